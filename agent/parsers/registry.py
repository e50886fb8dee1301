"""All line parsers, and how one record goes through them.

Decides the order (the order of the events of one record) and how much of a record is looked at. It must not know a
single fault.
"""

from dataclasses import replace

from agent.kernel_log.record import KernelRecord, is_from_kernel
from agent.parsers.gpu import parse_gpu
from agent.parsers.host import parse_host
from agent.parsers.network import parse_network
from agent.parsers.pcie import parse_pcie
from agent.parsers.sighting import Parser, Sighting
from agent.parsers.storage import parse_storage
from agent.parsers.sxid import parse_fabric_manager, parse_sxid
from agent.parsers.xid import parse_xid

KERNEL_PARSERS: tuple[Parser, ...] = (
    parse_xid,
    parse_gpu,
    parse_sxid,
    parse_fabric_manager,
    parse_pcie,
    parse_host,
    parse_storage,
    parse_network,
)
PROGRAM_PARSERS: dict[str, tuple[Parser, ...]] = {
    "nv-fabricmanager": (parse_fabric_manager,),
    "nvidia-fabricmanager": (parse_fabric_manager,),
}
# A panic with its trace has about 4 KiB, a record of the kernel at most 8 KiB (LOG_LINE_MAX and PRINTKRB_RECORD_MAX);
# whatever is longer was not written by the kernel, and a bound keeps the work linear in it.
TEXT_LIMIT = 16 * 1024


def parse_sightings(record: KernelRecord) -> list[Sighting]:
    """Return what *record* tells of, in the order of the parsers; never raises."""
    parsers = KERNEL_PARSERS if is_from_kernel(record) else PROGRAM_PARSERS.get(record.tag or "", ())
    text = record.text[:TEXT_LIMIT]
    found = [sighting for parser in parsers for sighting in parser(text)]
    if record.facility:  # not the kernel's own words: somebody wrote them into /dev/kmsg, for a drill perhaps
        found = [replace(sighting, attributes={**sighting.attributes, "injected": True}) for sighting in found]
    return found

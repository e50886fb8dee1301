"""All line parsers, and how one record goes through them.

Decides the order (the order of the events of one record), how much of a record is looked at, and which records hold
words of strangers. It must not know a single fault.
"""

from collections.abc import Callable
from dataclasses import replace

from agent.kernel_log.record import KernelRecord, is_from_kernel
from agent.parsers.gpu import GPU
from agent.parsers.host import HOST
from agent.parsers.network import NETWORK
from agent.parsers.pcie import PCIE
from agent.parsers.prefilter import index
from agent.parsers.sighting import LineParser, Sighting
from agent.parsers.storage import STORAGE
from agent.parsers.sxid import FABRIC_MANAGER, SXID
from agent.parsers.xid import XID
from policies.contract.catalog.nvlink5 import DriverLayout

KERNEL_PARSERS: tuple[LineParser, ...] = (XID, GPU, SXID, FABRIC_MANAGER, PCIE, HOST, STORAGE, NETWORK)
PROGRAM_PARSERS: dict[str, tuple[LineParser, ...]] = {
    "nv-fabricmanager": (FABRIC_MANAGER,),
    "nvidia-fabricmanager": (FABRIC_MANAGER,),
}
# A panic with its trace has about 4 KiB, a record of the kernel at most 8 KiB (LOG_LINE_MAX and PRINTKRB_RECORD_MAX);
# whatever is longer was not written by the kernel, and a bound keeps the work linear in it.
TEXT_LIMIT = 16 * 1024

_INDEX = tuple(index(KERNEL_PARSERS).items())
# The kernel says these, and repeats in them what users chose: boot arguments, audited names, cgroup paths.
_REPEATS_OTHERS = ("audit: ", "audit(", "Command line: ", "Kernel command line: ", "Unknown kernel command line")
_REPEATS_PATHS = "oom-kill:"
# Others it repeats without a word before: `prog[7]: segfault at .. in NVRM: Xid (PCI:0000:53:00): 79, ..` is a crash in
# a file of that name (mm/memory.c, print_vma_addr), and any user may name a file. So a GPU is accused only by a record
# that begins as its driver's do; the driver prints names of strangers behind that.
_DRIVER = ("NVRM", "nvidia", "Xid (", "XID (", "SXid (", "GPU reset executed")
_OF_THE_DRIVER = (XID, GPU, SXID)


def unknown_layout() -> DriverLayout | None:
    """Nobody knows which driver is loaded."""
    return None


def parse_sightings(record: KernelRecord, layout: Callable[[], DriverLayout | None] = unknown_layout) -> list[Sighting]:
    """Return what *record* tells of, in the order of the parsers; never raises.

    *layout* is asked, where a parser runs at all, how the loaded driver prints NVLink errors.
    """
    text = record.text if len(record.text) <= TEXT_LIMIT else record.text[:TEXT_LIMIT]
    wanted = 0
    for piece, parsers in _INDEX:
        if piece in text:
            wanted |= parsers
    return _parse(record, text, wanted, layout()) if wanted else []


def _parse(record: KernelRecord, text: str, wanted: int, layout: DriverLayout | None) -> list[Sighting]:
    found = [sighting for parser in _parsers(record, text, wanted) for sighting in parser.parse(text, layout)]
    if record.facility:  # not the kernel's own words: somebody wrote them into /dev/kmsg, for a drill perhaps
        return [replace(sighting, attributes={**sighting.attributes, "injected": True}) for sighting in found]
    return found


def _parsers(record: KernelRecord, text: str, wanted: int) -> tuple[LineParser, ...]:
    if not is_from_kernel(record):
        return PROGRAM_PARSERS.get(record.tag or "", ())
    if text.startswith(_REPEATS_PATHS):
        return (HOST,)
    if text.startswith(_REPEATS_OTHERS):
        return ()
    fitting = tuple(parser for place, parser in enumerate(KERNEL_PARSERS) if wanted >> place & 1)
    if text.lstrip().startswith(_DRIVER):
        return fitting
    return tuple(parser for parser in fitting if parser not in _OF_THE_DRIVER)

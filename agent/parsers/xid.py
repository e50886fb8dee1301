"""NVIDIA's driver reports a GPU fault: ``NVRM: Xid (PCI:0000:4b:00): 79, pid='<unknown>', name=<unknown>, GPU ...``.

Decides code, address, process and severity; what single codes add is read in `xid_details`. Forms
(open-gpu-kernel-modules, src/nvidia/src/kernel/gpu/rc/kernel_rc.c; docs.nvidia.com/deploy/xid-errors):

    NVRM: Xid (PCI:0000:4b:00): 63, Row remapping pending
    NVRM: Xid (0000:7D:00.0): 14, Channel 00000001                             old: no PCI:, function
    NVRM: Xid (PCI:0000:1a:00 GPU-I:05 GPU-CI:00): 31, pid=2150961, name=...   MIG instances
    NVRM: Xid (PCI:0000:bc:00): 46                                             cut, or no message at all
    Xid (PCI:0000:bc:00): 46                                                   journald took NVRM for a program's name

A process chooses its own name, so everything after the code is what a stranger may have written: the address and code
are read at the first ``)`` after ``Xid (`` and nowhere else. It must not know what is done about a code.
"""

import re

from agent.parsers.pci import ADDRESS, normalise_pci
from agent.parsers.sighting import LineParser, Sighting
from agent.parsers.xid_details import details
from policies.contract.catalog.nvlink5 import DriverLayout
from policies.contract.catalog.xid import XID_LOST, describe_xid, occurrence_key
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Persistence, Severity

_HEAD = re.compile(
    rf"(?:NVRM: |^)X(?:id|ID) \((?:PCI:)?({ADDRESS})(?: GPU-I:([0-9]{{1,4}}))?(?: GPU-CI:([0-9]{{1,4}}))?"
    r"[^)\n]{0,64}\): ([0-9]{1,6})(?![0-9])([^\n]{0,2000})",
    re.MULTILINE,
)
# A name ends at the next ", " or at the end of the line; inside quotes it may hold commas.
_PID = re.compile(r", pid='?([0-9]{1,10})'?(?=,|$|\s)")
_NAME = re.compile(r""", name=(?:'([^'\n]{1,64})'|"([^"\n]{1,64})"|([^,\n]{1,64}))""")
# `NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.` is the second of the two lines that osHandleGpuLost
# (src/nvidia/arch/nvalloc/unix/src/osinit.c) prints for one loss; the first is Xid 79, so it counts as that Xid again.
# Before R400 it was `NVRM: GPU at 0000:18:00.0 has fallen off the bus.`
_LOST_COMPANION = re.compile(rf"NVRM: GPU (?:at )?(?:PCI:)?({ADDRESS}):? (?:GPU )?has fallen off the bus")

_UNKNOWN_NAMES = frozenset({"<unknown>", "unknown", ""})
# Latched in the part or its driver until a reset, a reboot or a replacement (vendor's action column).
_PERMANENT = frozenset({48, 62, 64, 74, 79, 95, 119, 120, 140, 143, 158})


def parse_xid(text: str, layout: DriverLayout | None = None) -> list[Sighting]:
    """Return every Xid in *text*, one a line at most; *layout* reads NVLink 5 errors (144 to 150)."""
    found = [_xid(match, layout) for match in _HEAD.finditer(text)]
    if not found and (match := _LOST_COMPANION.search(text)):
        found = [_sighting(XID_LOST, normalise_pci(match[1]), {"xid": XID_LOST}, None)]
    return found


def _xid(match: re.Match[str], layout: DriverLayout | None) -> Sighting:
    address, gpu_instance, compute_instance, digits, rest = match.groups()
    code = int(digits)
    attributes: dict[str, Scalar] = {"xid": code}
    if gpu_instance:
        attributes["gpu_instance"] = int(gpu_instance)
    if compute_instance:
        attributes["compute_instance"] = int(compute_instance)
    more, severity = details(code, rest, layout)
    return _sighting(code, normalise_pci(address), attributes | _process(rest) | more, severity)


def _sighting(code: int, pci: str | None, attributes: dict[str, Scalar], severity: Severity | None) -> Sighting:
    entry = describe_xid(code)
    if entry.bucket == "symptom":
        attributes["symptom"] = True
    if occurrence := occurrence_key(code, pci):
        attributes["occurrence"] = occurrence
    link = attributes.get("link")
    component = Component(
        type=ComponentType.GPU,
        pci=pci,
        link=link if isinstance(link, int) and link >= 0 else None,
    )
    persistence = Persistence.PERMANENT if code in _PERMANENT else Persistence.UNKNOWN
    return Sighting(Kind.GPU_XID, severity or entry.severity, component, attributes, persistence)


def _process(rest: str) -> dict[str, Scalar]:
    pid, name = _PID.search(rest), _NAME.search(rest)
    process = next(group for group in name.groups() if group is not None).strip() if name else ""
    found: dict[str, Scalar] = {"pid": int(pid[1])} if pid else {}
    return found if process in _UNKNOWN_NAMES else found | {"process": process}


XID = LineParser(parse_xid, ("Xid (", "XID (", "has fallen off the bus"))

"""NVIDIA's driver reports a GPU fault: ``NVRM: Xid (PCI:0000:4b:00): 79, pid='<unknown>', name=<unknown>, GPU ...``.

Decides code, address, process and the fields of the codes that carry more. Forms (open-gpu-kernel-modules,
src/nvidia/src/kernel/gpu/rc/kernel_rc.c; docs.nvidia.com/deploy/xid-errors):

    NVRM: Xid (PCI:0000:4b:00): 63, Row remapping pending
    NVRM: Xid (0000:7D:00.0): 14, Channel 00000001                             old: no PCI:, function
    NVRM: Xid (PCI:0000:1a:00 GPU-I:05 GPU-CI:00): 31, pid=2150961, name=...   MIG instances
    NVRM: Xid (PCI:0018:eb:00): 145, pid=1, name=x, RLW_SRC_TRACK Nonfatal XC1 i0 Link 03 (0x040868e2 ...)
    NVRM: Xid (PCI:0000:29:00): 74, pid=.., name=.., NVLink: fatal error detected on link 14(0x100000, ...)
    NVRM: Xid (PCI:0009:de:00): 154, GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)
    NVRM: Xid (PCI:0000:bc:00): 46                                             cut, or no message at all
    Xid (PCI:0000:bc:00): 46                                                   journald took NVRM for a program's name

A process chooses its own name, so everything after the code is what a stranger may have written: the address and code
are read at the first ``)`` after ``Xid (`` and nowhere else. It must not know what is done about a code.
"""

import re

from agent.parsers.pci import ADDRESS, normalise_pci
from agent.parsers.sighting import Sighting
from policies.contract.catalog.xid import describe_xid
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Persistence, Severity

_HEAD = re.compile(
    rf"(?:NVRM: |^)Xid \((?:PCI:)?({ADDRESS})(?: GPU-I:([0-9]{{1,4}}))?(?: GPU-CI:([0-9]{{1,4}}))?[^)\n]{{0,64}}\)"
    r": ([0-9]{1,6})(?![0-9])([^\n]*)",
    re.MULTILINE,
)
# A name ends at the next ", " or at the end of the line; inside quotes it may hold commas.
_PID = re.compile(r", pid='?([0-9]{1,10})'?(?=,|$|\s)")
_NAME = re.compile(r""", name=(?:'([^'\n]{1,64})'|"([^"\n]{1,64})"|([^,\n]{1,64}))""")
_NVLINK5 = re.compile(
    r"(?:^|, )([A-Z][A-Z0-9_/]{1,47})\s+(Fatal|Nonfatal)\s+XC([0-9]{1,3})\s+i([0-9]{1,3})\s+Link\s+(-?[0-9]{1,3})"
)
_NVLINK4 = re.compile(r"NVLink: (?:non-)?fatal error detected on link ([0-9]{1,3})")
_RECOVERY = re.compile(r"recovery action changed from 0x([0-9A-Fa-f]{1,4})[^\n]{0,48}? to 0x([0-9A-Fa-f]{1,4})")
# `NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.` is the second of the two lines that osHandleGpuLost
# (src/nvidia/arch/nvalloc/unix/src/osinit.c) prints for one loss; the first is Xid 79, so it counts as that Xid again.
_LOST_COMPANION = re.compile(rf"NVRM: GPU (?:at )?(?:PCI:)?({ADDRESS}): GPU has fallen off the bus")

NVLINK5_CODES = range(144, 151)
XID_LOST, XID_NVLINK4, XID_RECOVERY_ACTION = 79, 74, 154
_UNKNOWN_NAMES = frozenset({"<unknown>", "unknown", ""})
# Latched in the part or its driver until a reset, a reboot or a replacement (vendor's action column).
_PERMANENT = frozenset({48, 62, 64, 74, 79, 95, 119, 120, 140, 143, 158})


def parse_xid(text: str) -> list[Sighting]:
    """Return every Xid in *text*, one a line at most."""
    if "Xid (" not in text and "NVRM: GPU" not in text:
        return []
    found = [_xid(match) for match in _HEAD.finditer(text)]
    if not found and (match := _LOST_COMPANION.search(text)):
        found = [_sighting(XID_LOST, Component(type=ComponentType.GPU, pci=normalise_pci(match[1])), {"xid": XID_LOST})]
    return found


def _xid(match: re.Match[str]) -> Sighting:
    address, gpu_instance, compute_instance, digits, rest = match.groups()
    code = int(digits)
    attributes: dict[str, Scalar] = {"xid": code}
    if gpu_instance:
        attributes["gpu_instance"] = int(gpu_instance)
    if compute_instance:
        attributes["compute_instance"] = int(compute_instance)
    attributes |= _process(rest) | _details(code, rest)
    link = attributes.get("link")
    component = Component(
        type=ComponentType.GPU,
        pci=normalise_pci(address),
        link=link if isinstance(link, int) and link >= 0 else None,
    )
    return _sighting(code, component, attributes)


def _sighting(code: int, component: Component, attributes: dict[str, Scalar]) -> Sighting:
    persistence = Persistence.PERMANENT if code in _PERMANENT else Persistence.UNKNOWN
    return Sighting(Kind.GPU_XID, _severity(code, attributes), component, attributes, persistence)


def _severity(code: int, attributes: dict[str, Scalar]) -> Severity:
    if code in NVLINK5_CODES and attributes.get("fatal") is False:
        return Severity.WARNING  # the driver's own word about this one event outranks the table about all of them
    if code == XID_RECOVERY_ACTION and attributes.get("recovery_action") == 0:
        return Severity.INFO  # back to none: recovered
    return describe_xid(code).severity


def _process(rest: str) -> dict[str, Scalar]:
    pid, name = _PID.search(rest), _NAME.search(rest)
    process = next(group for group in name.groups() if group is not None).strip() if name else ""
    found: dict[str, Scalar] = {"pid": int(pid[1])} if pid else {}
    return found if process in _UNKNOWN_NAMES else found | {"process": process}


def _details(code: int, rest: str) -> dict[str, Scalar]:
    if code in NVLINK5_CODES and (match := _NVLINK5.search(rest)):
        return {"subcode": match[1], "fatal": match[2] == "Fatal", "link": int(match[5])}
    if code == XID_NVLINK4 and (match := _NVLINK4.search(rest)):
        return {"link": int(match[1])}
    if code == XID_RECOVERY_ACTION and (match := _RECOVERY.search(rest)):
        return {"recovery_action": int(match[2], 16), "recovery_action_before": int(match[1], 16)}
    return {}

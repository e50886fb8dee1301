"""What single Xid codes say behind the code: NVLink errors, recovery actions, the Xid that came before.

Forms (open-gpu-kernel-modules, src/nvidia/src/kernel/gpu: nvlink/arch/blackwell, mem_sys, rc):

    145, pid=1, name=x, RLW_SRC_TRACK Nonfatal XC1 i0 Link 03 (0x040868e2 0x00000008 0x00000000 ...)
    149, NETIR Fatal XC0 i0 Link -1 (0x000fe406 0x00000000 ...
    74, pid=.., name=.., NVLink: fatal error detected on link 14(0x100000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)
    154, GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)
    45, pid=1818990, name=python3, Ch 00000001 caused by previous Xid 149

Decides the attributes and, where the line says more about this one event than the catalogue does about all, the
severity. It must not know addresses or processes.
"""

import re

from policies.contract.catalog.nvlink5 import DriverLayout, Nvlink5Entry, decode_nvlink5
from policies.contract.events import Scalar
from policies.contract.vocabulary import Action, Severity

NVLINK5_CODES = range(144, 151)
XID_PREEMPTED, XID_NVLINK4, XID_RECOVERY_ACTION = 45, 74, 154
Details = tuple[dict[str, Scalar], Severity | None]

_NVLINK5 = re.compile(
    r"(?:^|, )([A-Z][A-Z0-9_/]{1,47}(?: Degraded)?)\s{1,8}(Fatal|Nonfatal)\s{1,8}XC([0-9]{1,3})\s{1,8}i([0-9]{1,3})"
    r"\s{1,8}Link\s{1,8}(-?[0-9]{1,3})(?:\s{1,8}\((0x[0-9a-fA-F]{1,8})\s{1,8}(0x[0-9a-fA-F]{1,8}))?"
)
_NVLINK4 = re.compile(r"NVLink: (?:non-)?fatal error detected on link ([0-9]{1,3})", re.IGNORECASE)
_CAUSED_BY = re.compile(r"caused by previous Xid ([0-9]{1,6})(?![0-9])")
_RECOVERY = re.compile(
    r"recovery action changed from (?:0x([0-9A-Fa-f]{1,4}))?[^\n]{0,48}? to "
    r"(?:0x([0-9A-Fa-f]{1,4})(?![0-9A-Fa-f]))?\s{0,4}\(?([A-Za-z0-9 ]{0,48})"
)
# Number and name of each action. 0 to 4 are NVML's nvmlDeviceGpuRecoveryAction_t (nvml.h); 5 to 7 the driver's own.
RECOVERY_ACTIONS = (
    *("none", "gpu_reset", "node_reboot", "drain_p2p", "drain_and_reset", "imex_domain", "bus_reset", "reboot"),
)
# What drivers print for them; 2 was "Node Reboot Required" and became "OS Reboot", 1 "GPU Reset Required" and "PF FLR".
_PRINTED = {
    "none": 0,
    "gpu reset required": 1,
    "gpu reset": 1,
    "pf flr": 1,
    "node reboot required": 2,
    "node reboot": 2,
    "os reboot": 2,
    "drain p2p": 3,
    "drain and reset": 4,
    "recover imex domain": 5,
    "bus reset": 6,
}


def details(code: int, rest: str, layout: DriverLayout | None) -> Details:
    """Return the attributes in *rest*, what stands behind *code*, and its severity where it says one."""
    if code in NVLINK5_CODES and (match := _NVLINK5.search(rest)):
        return _nvlink5(code, match, layout)
    if code == XID_NVLINK4 and (match := _NVLINK4.search(rest)):
        return {"link": int(match[1])}, None
    if code == XID_RECOVERY_ACTION and (match := _RECOVERY.search(rest)):
        return _recovery(match)
    if code == XID_PREEMPTED and (match := _CAUSED_BY.search(rest)):
        return {"caused_by": int(match[1])}, None
    return {}, None


def _nvlink5(code: int, match: re.Match[str], layout: DriverLayout | None) -> Details:
    unit, word, _, _, link, interrupt, status = match.groups()
    fatal = word == "Fatal"
    found: dict[str, Scalar] = {"subcode": unit, "fatal": fatal, "link": int(link)}
    entry = None
    if interrupt:
        found |= {"interrupt": interrupt.lower(), "error_status": status.lower()}
        entry = decode_nvlink5(code, unit, int(interrupt, 16), int(status, 16), layout)
    if entry:
        found |= _decoded(entry)
    return found, _nvlink5_severity(entry, fatal=fatal)


def _nvlink5_severity(entry: Nvlink5Entry | None, *, fatal: bool) -> Severity:
    """The line's own word about this event outranks the table; a table that asks for a reset is not passed over."""
    if fatal:
        return Severity.CRITICAL
    return Severity.ERROR if entry and entry.action is Action.RESET_GPU else Severity.WARNING


def _decoded(entry: Nvlink5Entry) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {"action": entry.action.value, "look_at": entry.look_at}
    return found | {"decided_by": entry.decided_by} if entry.decided_by else found


def _recovery(match: re.Match[str]) -> Details:
    before, number, name = match.groups()
    action = int(number, 16) if number else _PRINTED.get(name.strip().lower())
    found: dict[str, Scalar] = {}
    if action is None:
        return found, None
    found["recovery_action"] = action
    if action < len(RECOVERY_ACTIONS):
        found["recovery"] = RECOVERY_ACTIONS[action]
    if before:
        found["recovery_action_before"] = int(before, 16)
    return found, Severity.INFO if action == 0 else None  # back to none: recovered

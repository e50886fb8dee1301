"""What the driver says that a GPU needs to go on: nothing, a reset, a reboot, and what lies between.

Values of NVML_FI_DEV_GET_GPU_RECOVERY_ACTION (nvml.h, nvmlDeviceGpuRecoveryAction_t; since R550), the same as Xid 154
prints. It outranks what an Xid suggests (docs.nvidia.com/deploy/xid-errors). It must not know Xids.
"""

from collections.abc import Iterable

from agent.gpu.nvml.snapshot import Gpu
from agent.gpu.parts import gpu_part, unread
from agent.parsers.sighting import Sighting
from agent.parsers.xid_details import RECOVERY_ACTIONS
from agent.polls.reading import Holds, Reading
from policies.contract.events import Scalar
from policies.contract.vocabulary import Kind, Severity

_NONE, _DRAIN_P2P = 0, 3
_LARGEST = 0xFF  # newer ones may come; what is beyond any enumeration is rubbish
_NEEDS_THE_NODE = (2, 7)


def judge_actions(gpus: Iterable[Gpu]) -> list[Reading]:
    """Judge what each GPU asks for."""
    found: list[Reading] = []
    for gpu in gpus:
        if gpu.recovery_action is None or gpu.recovery_action > _LARGEST:
            found.append(unread(gpu, Kind.GPU_RECOVERY_ACTION))
        elif gpu.recovery_action != _NONE:
            found.append(recovery(gpu, gpu.recovery_action, "the driver asks for it"))
    return found


def recovery(gpu: Gpu, action: int, why: str) -> Holds:
    """Return that *gpu* needs *action*; when it asks for another, this one is over and that one begins."""
    name = RECOVERY_ACTIONS[action] if 0 <= action < len(RECOVERY_ACTIONS) else "unknown"
    attributes: dict[str, Scalar] = {"recovery_action": action, "recovery": name}
    sighting = Sighting(Kind.GPU_RECOVERY_ACTION, _severity(action), gpu_part(gpu), attributes)
    return Holds(sighting, f"GPU {gpu.index} needs {name.replace('_', ' ')}: {why}")


def _severity(action: int) -> Severity:
    if action in _NEEDS_THE_NODE:
        return Severity.CRITICAL
    return Severity.WARNING if action == _DRAIN_P2P else Severity.ERROR

"""Where a GPU stands with the NVLink fabric that switches span between GPUs: registered, and well.

nvmlGpuFabricInfo: a state, the status of the registration, and a health mask that packs small fields: 0 not supported,
1 the fault holds, 2 it does not. So 0xAA is as healthy as 0 (nvml.h, NVML_GPU_FABRIC_HEALTH_MASK_*). The field of the
configuration is another: 1 none is wrong, from 2 on what is. "Not supported" (a PCIe card, GH200 without a switch) is
healthy.

It must not know the fabric manager's log.
"""

from collections.abc import Iterable, Iterator

from agent.gpu.nvml.snapshot import Fabric, Gpu
from agent.gpu.parts import gpu_part, link_part
from agent.parsers.sighting import Sighting
from agent.polls.reading import Holds, NotMeasured, Reading
from policies.contract.events import Scalar
from policies.contract.vocabulary import Kind, Severity

NOT_SUPPORTED, NOT_STARTED, IN_PROGRESS, COMPLETED = range(4)
_TRUE = 1
_FIELDS = {  # shift -> what is the matter if it says 1, and how bad that is
    0: ("degraded_bandwidth", Severity.WARNING),
    2: ("route_recovery", Severity.WARNING),
    4: ("route_unhealthy", Severity.ERROR),
    6: ("access_timeout_recovery", Severity.WARNING),
}
_CONFIGURATION_SHIFT, _CONFIGURATION_MASK = 8, 0xF
_CONFIGURATION = {
    2: "wrong_system_guid",
    3: "wrong_chassis_serial",
    4: "no_partition",
    5: "too_few_nvlinks",
    6: "incompatible_firmware",
    7: "invalid_location",
    8: "invalid_gpu_state",
}
_STATE_AFTER, _HEALTH_AFTER = 60.0, 10.0


def judge_fabric(gpus: Iterable[Gpu]) -> list[Reading]:
    """Judge the fabric of a close look."""
    found: list[Reading] = []
    for gpu in gpus:
        fabric = gpu.detail.fabric if gpu.detail else None
        if fabric is None:
            found.append(NotMeasured(frozenset({Kind.FABRIC_MANAGER_ERROR}), gpu_part(gpu)))
            found.append(NotMeasured(frozenset({Kind.NVLINK_ERROR}), link_part(gpu)))
        elif fabric.state != NOT_SUPPORTED:
            found += [*_registration(gpu, fabric), *_health(gpu, fabric.health)]
    return found


def decode(health: int) -> dict[str, Severity]:
    """Return what is the matter according to the mask; empty: nothing."""
    found = {name: bad for shift, (name, bad) in _FIELDS.items() if (health >> shift) & 0x3 == _TRUE}
    wrong = _CONFIGURATION.get((health >> _CONFIGURATION_SHIFT) & _CONFIGURATION_MASK)
    return {**found, wrong: Severity.ERROR} if wrong else found


def _registration(gpu: Gpu, fabric: Fabric) -> Iterator[Reading]:
    if fabric.state == COMPLETED and fabric.status == 0:
        return
    reason = "registration_failed" if fabric.state == COMPLETED else "not_registered"
    attributes: dict[str, Scalar] = {"reason": reason, "state": fabric.state, "status": fabric.status}
    sighting = Sighting(Kind.FABRIC_MANAGER_ERROR, Severity.ERROR, gpu_part(gpu), attributes)
    message = f"GPU {gpu.index} is not registered with the NVLink fabric (state {fabric.state}, status {fabric.status})"
    yield Holds(sighting, message, after=_STATE_AFTER, in_boot=False)


def _health(gpu: Gpu, health: int) -> Iterator[Reading]:
    for reason, severity in decode(health).items():
        attributes: dict[str, Scalar] = {"reason": reason, "health_mask": health}
        sighting = Sighting(Kind.NVLINK_ERROR, severity, link_part(gpu), attributes)
        message = f"GPU {gpu.index}: the NVLink fabric says {reason.replace('_', ' ')}"
        yield Holds(sighting, message, after=_HEALTH_AFTER, in_boot=False)

"""What works here of the sources in this folder, and what to do about what does not."""

from collections import Counter
from collections.abc import Iterator

from agent.check_result import CheckResult
from agent.gpu.bus import gpus_on_bus
from agent.gpu.dcgm.command import DcgmError, health_report
from agent.gpu.dcgm.report import BadReportError, parse_report
from agent.gpu.nvml.reader import TOPIC, DriverHungError, NvmlRefusedError, ProbeReader
from agent.gpu.nvml.snapshot import (
    DRIVER_NOT_LOADED,
    LIB_RM_VERSION_MISMATCH,
    LIBRARY_NOT_FOUND,
    NO_PERMISSION,
    Look,
)
from agent.polls.reading import NotHereError
from agent.prober.client import ProbeError, Prober
from agent.prober.topics import TOPICS
from agent.settings import Settings

_HINTS = {
    LIBRARY_NOT_FOUND: "Install NVIDIA's driver; in a container mount its libnvidia-ml.so.1 and set nvml_library.",
    NO_PERMISSION: "Let the agent's user open /dev/nvidiactl and /dev/nvidia*.",
    DRIVER_NOT_LOADED: "Load NVIDIA's driver: modprobe nvidia; the kernel's log says why it fails.",
    LIB_RM_VERSION_MISMATCH: "The driver was changed and the old one is still loaded: reboot, or unload and load it.",
}


def checks(settings: Settings) -> Iterator[CheckResult]:
    """Try each source once, as this process."""
    yield _nvml(settings)
    yield _dcgm(settings)


def _nvml(settings: Settings) -> CheckResult:
    if settings.nvml == "off":
        return CheckResult("nvml", ok=True, found="switched off (nvml)", is_here=False)
    on_bus = len(gpus_on_bus(settings.sysfs))
    prober = Prober({TOPIC: TOPICS[TOPIC]})
    try:
        return _looked(ProbeReader(prober, settings.nvml_library).look(closely=True))
    except NvmlRefusedError as error:
        hint = _HINTS.get(error.code, "The kernel's log says more: dmesg | grep NVRM.")
        if error.code in (LIBRARY_NOT_FOUND, DRIVER_NOT_LOADED) and not on_bus:
            return CheckResult("nvml", ok=True, found=f"{error}, and no NVIDIA GPU is on the bus", is_here=False)
        allowed = error.code != NO_PERMISSION
        return CheckResult("nvml", ok=False, found=f"{error}; {on_bus} GPUs on the bus", hint=hint, allowed=allowed)
    except DriverHungError as error:
        return CheckResult("nvml", ok=False, found=str(error), hint="Reboot the node; keep the kernel's log.")
    except ProbeError as error:
        return CheckResult("nvml", ok=False, found=str(error), hint="Look at what the agent's child printed above.")
    finally:
        prober.close()


def _looked(look: Look) -> CheckResult:
    names = Counter(gpu.name or "GPU" for gpu in look.gpus)
    told = ", ".join(f"{count} x {name}" for name, count in names.items()) or "no GPU"
    broken = [f"GPU {gpu.index} (NVML code {gpu.error})" for gpu in look.gpus if gpu.error is not None]
    events = f"; no events ({look.events_off}): Xids come from the kernel's log alone" if look.events_off else ""
    found = f"{told}, driver {look.driver}{events}"
    if broken:
        hint = "The kernel's log says more: dmesg | grep NVRM."
        return CheckResult("nvml", ok=False, found=f"{found}; not answering: {', '.join(broken)}", hint=hint)
    return CheckResult("nvml", ok=True, found=found)


def _dcgm(settings: Settings) -> CheckResult:
    if settings.dcgm == "off":
        return CheckResult("dcgm", ok=True, found="switched off (dcgm)", is_here=False)
    try:
        incidents = parse_report(health_report())
    except NotHereError as error:
        return CheckResult("dcgm", ok=True, found=f"{error}; it is not needed", is_here=False)
    except (DcgmError, BadReportError) as error:
        hint = "Run dcgmi health -g 0 -c yourself, or set dcgm to off."
        return CheckResult("dcgm", ok=False, found=str(error), hint=hint)
    return CheckResult("dcgm", ok=True, found=f"its health watches are read; they report {len(incidents)} incidents")

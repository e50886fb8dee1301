"""What works here of the sources in this folder, and what to do about what does not."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from agent.check_result import CheckResult
from agent.fabric.devices import CLASS, RdmaDevice, exclusive_namespaces, read_devices
from agent.fabric.efa.counters import read_counters
from agent.fabric.efa.counts import at_most
from agent.fabric.imex.ctl import ask_program
from agent.fabric.imex.poll import Imex
from agent.fabric.infiniband.ports import read_ports
from agent.kernel_files import Unread
from agent.polls.reading import Instant, NotHereError
from agent.settings import Settings


def checks(settings: Settings) -> Iterator[CheckResult]:
    """Try each source once, as this process."""
    try:
        devices = read_devices(settings.sysfs)
    except OSError as error:
        yield _barred("rdma devices", settings, error)
    else:
        yield _efa([device for device in devices if device.is_efa], settings)
        yield _infiniband([device for device in devices if not device.is_efa], settings)
    yield _imex(settings)


def _efa(devices: Sequence[RdmaDevice], settings: Settings) -> CheckResult:
    most = at_most(settings.instance_type)
    found = f"{len(devices)} EFA devices" + (f" of at most {most} on {settings.instance_type}" if most else "")
    if not devices:
        hint = "Attach EFA interfaces and install AWS's EFA driver, if training is to run over EFA." if most else ""
        return CheckResult(
            "efa", ok=not settings.efa_devices, found=found, hint=hint, is_here=bool(settings.efa_devices)
        )
    if len(devices) < settings.efa_devices:
        hint = "Look for EFA in lspci -d 1d0f: and in dmesg, or correct efa_devices."
        return CheckResult("efa", ok=False, found=f"{found}, {settings.efa_devices} are asked for", hint=hint)
    numbers = [number for device in devices for number in read_counters(settings.sysfs, device).values.values()]
    if unread := next((number for number in numbers if isinstance(number, Unread)), None):
        hint = "Let the agent read the device's hw_counters, or look for its faults in dmesg."
        return CheckResult("efa", ok=False, found=f"{found}; a counter cannot be read ({unread.why})", hint=hint)
    if exclusive_namespaces(settings.sysfs):
        found += "; the RDMA system is in exclusive mode, so one that a container holds is not watched"
    return CheckResult("efa", ok=True, found=found)


def _infiniband(devices: Sequence[RdmaDevice], settings: Settings) -> CheckResult:
    expected = settings.infiniband_ports_expected
    if not devices and not expected:
        return CheckResult("infiniband", ok=True, found="no InfiniBand or RoCE adapter is registered", is_here=False)
    try:
        ports = [port for device in devices for port in read_ports(settings.sysfs, device)]
    except OSError as error:
        return _barred("infiniband", settings, error)
    active = sum(port.is_active for port in ports)
    found = f"{active} of {len(ports)} ports are up" + (f", {expected} are expected" if expected else "")
    return CheckResult("infiniband", ok=active >= expected, found=found, hint="See ibstat, or correct the setting.")


def _imex(settings: Settings) -> CheckResult:
    poll = Imex(ask_program(settings.imex_ctl), settings.imex_config, settings.instance_type)
    try:
        readings = poll.measure({}, Instant(datetime.now(UTC), 0.0))
    except NotHereError as error:
        return CheckResult("imex", ok=True, found=str(error), is_here=False)
    except OSError as error:
        return _barred("imex", settings, error)
    problems = [getattr(reading, "message", "the daemon or the domain does not answer") for reading in readings]
    hint = "See nvidia-imex-ctl -N and systemctl status nvidia-imex; the command service must be enabled in its config."
    return CheckResult("imex", ok=not problems, found="; ".join(problems[:3]) or "the domain is up", hint=hint)


def _barred(name: str, settings: Settings, error: OSError) -> CheckResult:
    found = f"{error.filename or settings.sysfs / CLASS} cannot be read ({error.strerror})"
    return CheckResult(
        name, ok=False, found=found, hint="Mount the node's /sys read-only and set sysfs.", allowed=False
    )

"""What works here of the sources in this folder, and what to do about what does not.

Each poll is made as a run makes it and measures once. It must not know how results are shown.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from agent.check_result import CheckResult
from agent.host import sources
from agent.host.disks import full
from agent.host.disks.mountinfo import mounts_of_node
from agent.host.mounts import network
from agent.polls.reading import Holds, Instant, NotHereError, NotMeasured, Poll
from agent.polls.source import since_boot
from agent.prober.client import Prober
from agent.prober.topics import TOPICS
from agent.settings import Settings
from policies.contract.errors import DependencyError

_HINT = "Let the agent's user read it; in a container set `procfs` and `sysfs` to where the node's are mounted."


def checks(settings: Settings) -> Iterator[CheckResult]:
    """Try each source once, as this process."""
    if not settings.host_checks:
        yield CheckResult(
            "host", ok=True, found="host_checks is false: nothing of the machine is measured", is_here=False
        )
        return
    prober = Prober({"mounts": TOPICS["mounts"]})
    try:
        yield from _tried(settings, prober)
    finally:
        prober.close()


def _tried(settings: Settings, prober: Prober) -> Iterator[CheckResult]:
    ask = sources.ask_prober(prober)
    polls: dict[str, tuple[Poll, str]] = {
        "edac": (sources.edac_poll(settings), "EDAC's counters are read; an error is told by the kernel log's line"),
        "clock": (sources.clock_poll(settings), "the kernel says how well the clock is kept"),
        "memory": (sources.memory_poll(settings), "the node's memory and its largest processes are read"),
        "disks": (sources.disk_poll(settings, ask), "local file systems answer"),
        "mounts": (sources.mount_poll(settings, ask), "file servers' mounts are asked"),
    }
    if sources.asks_metadata(settings):
        polls["spot"] = (sources.spot_poll(settings), "no interruption is announced")
        polls["maintenance"] = (sources.maintenance_poll(settings), "no maintenance is announced")
    else:
        yield CheckResult("ec2 notices", ok=True, found="not asked for: instance_id is set", is_here=False)
    counted = _counted(settings)
    for name, (poll, well) in polls.items():
        yield _try(name, poll, f"{well}{counted.get(name, '')}")


def _counted(settings: Settings) -> Mapping[str, str]:
    try:
        mounts = mounts_of_node(settings.procfs).read(full.KINDS | network.KINDS)
    except OSError:
        return {}
    local, served = sum(map(full.counts, mounts)), sum(mount.kind in network.KINDS for mount in mounts)
    return {"disks": f" ({local} found)", "mounts": f" ({served} found)"}


def _try(name: str, poll: Poll, well: str) -> CheckResult:
    try:
        readings = poll.measure({}, Instant(datetime.now(UTC), since_boot()))
    except NotHereError as error:
        return CheckResult(name, ok=True, found=str(error), is_here=False)
    except DependencyError as error:
        return CheckResult(name, ok=False, found=error.message, hint=error.hint)
    except (OSError, ValueError, KeyError) as error:
        return CheckResult(name, ok=False, found=str(error), hint=_HINT, allowed=not isinstance(error, PermissionError))
    unread = sorted({kind for one in readings if isinstance(one, NotMeasured) for kind in one.kinds})
    if unread:
        return CheckResult(name, ok=False, found=f"not measured: {', '.join(unread)}", hint=_HINT, allowed=False)
    holds = [one.message for one in readings if isinstance(one, Holds)]
    return CheckResult(name, ok=True, found=f"measured, and not well: {'; '.join(holds[:3])}" if holds else well)

"""Which sources this folder has on this node. Decides only what is wired to what, and how often each is measured."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from agent.host.clock.kernel import read_discipline, read_tracking
from agent.host.clock.poll import ClockPoll
from agent.host.disks.mountinfo import mounts_of_node
from agent.host.disks.poll import Ask, DiskPoll
from agent.host.edac.controllers import read_controllers
from agent.host.edac.log import KernelLog
from agent.host.edac.poll import EdacPoll
from agent.host.memory.frame import read_frame
from agent.host.memory.poll import LeakPoll
from agent.host.mounts.poll import NetworkMountPoll
from agent.host.notices.metadata import SCHEDULED, SPOT
from agent.host.notices.poll import NoticePoll
from agent.identity import InstanceMetadata
from agent.prober.client import Prober
from agent.settings import Settings
from agent.wiring import Run, Wiring
from policies.contract.vocabulary import Source

_ASK_SECONDS = 20.0  # an answer takes half a second, the child's start on a busy machine some


def sources(wiring: Wiring) -> dict[str, Run]:
    """Return what to run for each source, by the name that the log and the spool know it by."""
    settings = wiring.settings
    if not settings.host_checks:
        return {}
    ask = ask_prober(wiring.prober)
    found: dict[str, Run] = {
        # EDAC's own drivers look once a second (edac_mc_poll_msec); a count of errors has no hurry.
        "edac": wiring.poll("edac", edac_poll(settings), Source.HOST, every=15),
        "clock": wiring.poll("clock", clock_poll(settings), Source.HOST, every=60),
        "memory": wiring.poll("memory", memory_poll(settings), Source.HOST, every=30, deadline=15),
        "disks": wiring.poll("disks", disk_poll(settings, ask), Source.FILESYSTEM, every=10, deadline=30),
        "mounts": wiring.poll("mounts", mount_poll(settings, ask), Source.FILESYSTEM, every=5, deadline=30),
    }
    if asks_metadata(settings):
        # EC2 user guide: "We recommend that you check for these interruption notices every 5 seconds."
        found["spot"] = wiring.poll("spot", spot_poll(settings), Source.EC2, every=5, deadline=30)
        found["maintenance"] = wiring.poll("maintenance", maintenance_poll(settings), Source.EC2, every=60, deadline=30)
    return found


def ask_prober(prober: Prober) -> Ask:
    """Return what asks the prober's topic of mounts."""

    def ask(paths: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        answer: Mapping[str, Mapping[str, Any]] = prober.ask("mounts", {"paths": list(paths)}, _ASK_SECONDS)
        return answer

    return ask


def asks_metadata(settings: Settings) -> bool:
    """Tell whether the metadata service is asked: not where an operator named the instance, unless where to ask too."""
    return not settings.instance_id or "metadata_endpoint" in settings.model_fields_set


def edac_poll(settings: Settings) -> EdacPoll:
    """Return the poll of counted memory errors."""
    log = KernelLog(settings.kernel_log, settings.sysfs)
    return EdacPoll(partial(read_controllers, settings.sysfs), log.told)


def clock_poll(settings: Settings) -> ClockPoll:
    """Return the poll of the wall clock."""
    return ClockPoll(read_discipline, read_tracking, settings.boot_grace_seconds)


def memory_poll(settings: Settings) -> LeakPoll:
    """Return the poll of memory that grows."""
    return LeakPoll(partial(read_frame, settings.procfs, settings.sysfs))


def disk_poll(settings: Settings, ask: Ask) -> DiskPoll:
    """Return the poll of local file systems."""
    mounts = mounts_of_node(settings.procfs)
    return DiskPoll(mounts, ask, settings.sysfs, Path(f"{mounts.below}/etc/fstab"))


def mount_poll(settings: Settings, ask: Ask) -> NetworkMountPoll:
    """Return the poll of file servers' mounts."""
    return NetworkMountPoll(mounts_of_node(settings.procfs), ask)


def spot_poll(settings: Settings) -> NoticePoll:
    """Return the poll of notices to spot instances."""
    return NoticePoll(InstanceMetadata(settings.metadata_endpoint).find, SPOT, only="spot")


def maintenance_poll(settings: Settings) -> NoticePoll:
    """Return the poll of scheduled events."""
    return NoticePoll(InstanceMetadata(settings.metadata_endpoint).find, SCHEDULED)

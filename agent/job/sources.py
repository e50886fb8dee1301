"""Which sources this folder has on this node. Decides only what is wired to what."""

from agent.job.cgroups.oom import OomPoll
from agent.job.rhythm import Bounds
from agent.job.stalled import StalledPoll
from agent.wiring import Run, Wiring
from policies.contract.vocabulary import Source

_MOST_SECONDS = 2.0


def sources(wiring: Wiring) -> dict[str, Run]:
    """Return what to run for each source, by the name that the log and the spool know it by."""
    settings = wiring.settings
    bounds = Bounds(settings.hang_after_seconds, settings.slow_phase_seconds)
    stalled = StalledPoll(wiring.table, settings.procfs, bounds)
    every = min(_MOST_SECONDS, settings.hang_after_seconds / 2)
    return {
        "heartbeat": wiring.poll("heartbeat", stalled, Source.HEARTBEAT, every=every),
        "cgroup": wiring.poll("cgroup", OomPoll(settings.sysfs), Source.CGROUP, every=_MOST_SECONDS),
    }

"""Which sources this folder has on this node. Decides only what is wired to what."""

from functools import partial
from pathlib import Path

from agent.job.cgroups.oom import OomPoll
from agent.job.exit_listener import ExitListener
from agent.job.exits import ExitPoll
from agent.job.hung import HungPoll
from agent.job.progress import EVERY_SECONDS, ProgressPoll
from agent.job.rhythm import Bounds
from agent.job.services.asking import ask_grpc, ask_http
from agent.job.services.health import KUBELET_UNITS, ServicePoll, kubelet, runtime
from agent.job.stalled import StalledPoll
from agent.job_file import JobFile
from agent.settings import Settings
from agent.wiring import Run, Wiring
from policies.contract.vocabulary import Source

_MOST_SECONDS = 2.0
_HUNG_EVERY_SECONDS = 5.0
_SERVICE_EVERY_SECONDS, _ANSWER_SECONDS = 10.0, 5.0


def sources(wiring: Wiring) -> dict[str, Run]:
    """Return what to run for each source, by the name that the log and the spool know it by."""
    settings, table, proc = wiring.settings, wiring.table, wiring.settings.procfs
    bounds = Bounds(settings.hang_after_seconds, settings.slow_phase_seconds)
    soon = min(_MOST_SECONDS, settings.hang_after_seconds / 2)
    later = min(_HUNG_EVERY_SECONDS, settings.hang_after_seconds / 2)
    exits = ExitPoll(table, proc, ExitListener)
    job_file = JobFile(settings.job_file)
    progress = ProgressPoll(table, job_file, wiring.jobs, bounds, settings.checkpoint_overdue_seconds)
    found: dict[str, Run] = {
        "heartbeat": wiring.poll("heartbeat", StalledPoll(table, proc, bounds), Source.HEARTBEAT, every=soon),
        "job_progress": wiring.poll("job_progress", progress, Source.HEARTBEAT, every=EVERY_SECONDS),
        "process": wiring.poll("process", HungPoll(table, proc, bounds), Source.PROCESS, every=later),
        "process_exit": wiring.poll("process_exit", exits, Source.PROCESS, every=_MOST_SECONDS),
        "cgroup": wiring.poll("cgroup", OomPoll(settings.sysfs), Source.CGROUP, every=_MOST_SECONDS),
    }
    for name, poll in services(settings).items():
        found[name] = wiring.poll(name, poll, Source.CONTAINER_RUNTIME, every=_SERVICE_EVERY_SECONDS)
    return found


def services(settings: Settings) -> dict[str, ServicePoll]:
    """Return what asks the services that the settings name."""
    socket, url, found = settings.container_runtime_socket, settings.kubelet_health, dict[str, ServicePoll]()
    if socket:
        ask = partial(ask_grpc, socket, _ANSWER_SECONDS)
        found["container_runtime"] = ServicePoll(runtime(socket), ask, belongs=Path(socket).exists)
    if url:
        ask = partial(ask_http, url, _ANSWER_SECONDS)
        found["kubelet"] = ServicePoll(kubelet(url), ask, belongs=lambda: any(map(Path.exists, KUBELET_UNITS)))
    return found

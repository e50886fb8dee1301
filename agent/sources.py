"""Which sources this node has: one thread each, under the name that the log and the spool know it by.

Decides only what is wired to what. It must not know faults, lanes or threads.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from agent.commands.sources import sources as command_sources
from agent.events import EventMaker
from agent.fabric.sources import sources as fabric_sources
from agent.gpu.sources import sources as gpu_sources
from agent.host.sources import sources as host_sources
from agent.job.sources import sources as job_sources
from agent.job_file import JobFile
from agent.journal.source import JournalSettings, JournalSource
from agent.kernel_log.source import KernelLogSource, LogSettings
from agent.service_logs import ServiceLogSource
from agent.training_logs.rank import JobSources
from agent.training_logs.source import TrainingLogSettings, TrainingLogSource
from agent.wiring import Run, Wiring
from policies.contract.vocabulary import Source


def log_sources(wiring: Wiring) -> dict[str, Run]:
    """Return what reads logs."""
    settings, node, spool, clock = wiring.settings, wiring.node, wiring.spool, wiring.clock
    kernel = LogSettings(settings.kernel_log, node.boot_id, settings.kernel_log_start)
    found: dict[str, Run] = {
        "kernel_log": KernelLogSource(
            kernel,
            spool,
            wiring.maker(Source.KERNEL_LOG),
            clock=clock,
            xids=wiring.xids,
            own=wiring.own,
            driver=wiring.driver,
        ).run
    }
    if settings.training_logs:
        chosen = TrainingLogSettings(settings.training_logs, settings.training_logs_at_most)
        maker = partial(EventMaker, node, Source.TRAINING_LOG)
        jobs = JobSources(JobFile(settings.job_file), wiring.job.node_job)
        found["training_log"] = TrainingLogSource(chosen, spool, maker, jobs, clock=clock, proc=settings.procfs).run
    if settings.journal_units:
        journal = JournalSettings(settings.journal_units, node.boot_id, boot_grace=settings.boot_grace_seconds)
        found["journal"] = JournalSource(journal, spool, wiring.maker(Source.JOURNAL), clock=clock).run
    for path in settings.service_logs:
        source = ServiceLogSource(
            Path(path), spool, wiring.maker(Source.JOURNAL), clock=clock, boot_grace=settings.boot_grace_seconds
        )
        found[source.name] = source.run
    return found


# Each is begun and ended as one: agent/reload.py knows which settings are whose.
GROUPS: Final[Mapping[str, Callable[[Wiring], dict[str, Run]]]] = MappingProxyType({
    "logs": log_sources,
    "gpu": gpu_sources,
    "fabric": fabric_sources,
    "host": host_sources,
    "job": job_sources,
    "commands": command_sources,
})  # fmt: skip

"""Which sources this node has: one thread each, under the name that the log and the spool know it by.

Decides only what is wired to what. It must not know faults, lanes or threads.
"""

import threading
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

from agent.events import EventMaker, job_of_node
from agent.job_file import JobFile
from agent.journal.source import JournalSettings, JournalSource
from agent.kernel_log.source import KernelLogSource, LogSettings
from agent.service_logs import ServiceLogSource
from agent.settings import Settings
from agent.spool.spool import Spool
from agent.training_logs.source import TrainingLogSettings, TrainingLogSource
from policies.contract.envelope import NodeIdentity
from policies.contract.vocabulary import Source

Run = Callable[[threading.Event], None]


def sources_of(settings: Settings, node: NodeIdentity, spool: Spool, clock: Callable[[], datetime]) -> dict[str, Run]:
    """Return what to run for each source that *settings* ask for; each has a job file of its own to read."""
    kernel = LogSettings(settings.kernel_log, node.boot_id, settings.kernel_log_start, settings.driver_version)
    found: dict[str, Run] = {
        "kernel_log": KernelLogSource(kernel, spool, _maker(settings, node, Source.KERNEL_LOG), clock=clock).run
    }
    if settings.training_logs:
        chosen = TrainingLogSettings(settings.training_logs, settings.training_logs_at_most)
        maker = partial(EventMaker, node, Source.TRAINING_LOG)
        found["training_log"] = TrainingLogSource(chosen, spool, maker, JobFile(settings.job_file), clock=clock).run
    if settings.journal_units:
        journal = JournalSettings(settings.journal_units, node.boot_id)
        found["journal"] = JournalSource(journal, spool, _maker(settings, node, Source.JOURNAL), clock=clock).run
    for path in settings.service_logs:
        source = ServiceLogSource(Path(path), spool, _maker(settings, node, Source.JOURNAL), clock=clock)
        found[source.name] = source.run
    return found


def _maker(settings: Settings, node: NodeIdentity, source: Source) -> EventMaker:
    return EventMaker(node, source, job_of_node(JobFile(settings.job_file)))

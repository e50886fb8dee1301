"""A folder of ranks' logs with a source that follows it."""

import threading
from contextlib import AbstractContextManager
from pathlib import Path

from agent.events import EventMaker
from agent.main import utc_now
from agent.spool.spool import Spool
from agent.training_logs.rank import JobSources
from agent.training_logs.source import TrainingLogSettings, TrainingLogSource
from policies.contract.events import JobRef
from policies.contract.vocabulary import Source
from tests.tools.sources import NODE, following, started


class Ranks:
    """A folder of ranks' logs, a spool, and a source between them that lives as long as the test says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "logs"
        self.folder.mkdir()
        self._spool = folder / "spool"
        self.proc = folder / "proc"
        self.job: JobRef | None = None

    def write(self, name: str, *lines: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write("".join(f"{line}\n" for line in lines))
        return path

    def running(self, pattern: str = "**/*.log*", at_most: int = 64) -> AbstractContextManager[Spool]:
        def begin(spool: Spool, stop: threading.Event) -> threading.Thread:
            source = TrainingLogSource(
                TrainingLogSettings((str(self.folder / pattern),), at_most),
                spool,
                lambda job: EventMaker(NODE, Source.TRAINING_LOG, job),
                JobSources(lambda: self.job),
                clock=utc_now,
                proc=self.proc,
            )
            return started(source.run, stop)

        return following(self._spool, begin)

"""A folder of ranks' logs with a source that follows it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.events import EventMaker
from agent.main import utc_now
from agent.spool.limits import SpoolLimits
from agent.spool.opening import open_spool
from agent.spool.spool import Spool
from agent.training_logs.source import TrainingLogSettings, TrainingLogSource
from policies.contract.envelope import NodeIdentity
from policies.contract.events import JobRef
from policies.contract.vocabulary import Source
from tests.tools.agent_events import describe_loss, new_ids

NODE = NodeIdentity(cluster="c", name="n", instance_id="i-1", boot_id="b")


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

    @contextmanager
    def running(self, pattern: str = "**/*.log*", at_most: int = 64) -> Iterator[Spool]:
        with open_spool(
            self._spool,
            owner="i-1",
            boot_id="b",
            limits=SpoolLimits(),
            clock=utc_now,
            new_id=new_ids(),
            describe_loss=describe_loss,
        ) as spool:
            source = TrainingLogSource(
                TrainingLogSettings((str(self.folder / pattern),), at_most),
                spool,
                lambda job: EventMaker(NODE, Source.TRAINING_LOG, job),
                lambda: self.job,
                clock=utc_now,
                proc=self.proc,
            )
            stop = threading.Event()
            thread = threading.Thread(target=source.run, args=(stop,))
            thread.start()
            try:
                yield spool
            finally:
                stop.set()
                thread.join(10)
            assert not thread.is_alive()

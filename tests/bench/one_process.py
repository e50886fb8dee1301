"""An agent's own parts in this process, so that the moment at which a put is acknowledged can be seen from within.

What `agent.main` wires, without the process around it: log source, parsers, coalescing, spool with its fdatasync,
publisher with its linger, Kinesis lane.
"""

import random
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.envelopes import EnvelopeMaker
from agent.events import EventMaker, loss_event
from agent.kernel_log.source import KernelLogSource, LogSettings
from agent.lanes import EnvelopeLane
from agent.main import utc_now
from agent.publisher import Clocks, Pace, Publisher
from agent.spool.limits import SpoolLimits
from agent.spool.opening import open_spool
from agent.supervise import start
from agent.vitals import Vitals
from local.fleet.kernel_log import KernelLog
from policies.contract.envelope import NodeIdentity
from policies.contract.events import JobRef
from policies.contract.vocabulary import Source

PATIENCE_SECONDS = 30.0


class TimedLane:
    """Notes when each put was acknowledged, by `time.perf_counter`."""

    def __init__(self, lane: EnvelopeLane) -> None:
        self._lane = lane
        self._news = threading.Condition()
        self._acknowledged: list[tuple[float, bytes]] = []

    def put(self, body: bytes, key: str) -> None:
        self._lane.put(body, key)
        at = time.perf_counter()
        with self._news:
            self._acknowledged.append((at, body))
            self._news.notify_all()

    def wait_for(self, text: bytes) -> float:
        """Return when the first envelope that holds *text* was acknowledged."""
        with self._news:
            assert self._news.wait_for(lambda: self._first(text), PATIENCE_SECONDS), f"no {text!r} was acknowledged"
            return self._first(text) or 0.0

    def _first(self, text: bytes) -> float | None:
        return next((at for at, body in self._acknowledged if text in body), None)


@contextmanager
def agent_here(folder: Path, node: NodeIdentity, lane: TimedLane, job: JobRef) -> Iterator[KernelLog]:
    """Run an agent on a kernel log of its own until the context is left; its first heartbeat has been acknowledged."""
    folder.mkdir()
    log = KernelLog(folder / "kernel.log")
    with open_spool(
        folder / "spool",
        owner=node.instance_id,
        boot_id=node.boot_id,
        limits=SpoolLimits(),
        clock=utc_now,
        new_id=lambda: uuid.uuid4().hex,
        describe_loss=lambda spool_id, loss: loss_event(node, spool_id, loss, utc_now()),
    ) as spool:
        maker = EventMaker(node, Source.KERNEL_LOG, lambda _seen: job)
        source = KernelLogSource(LogSettings(log.path, node.boot_id), spool, maker, clock=utc_now)
        publisher = Publisher(
            spool,
            EnvelopeMaker(node, "bench"),
            kinesis=lane,
            overflow=None,
            pace=Pace(),
            clocks=Clocks(utc_now, time.monotonic),
            jitter=random.random,
        )
        stop = threading.Event()
        threading.Thread(target=spool.keep_durable, args=(stop,), daemon=True).start()
        vitals = Vitals(time.monotonic)
        threads = [start("kernel_log", source.run, stop, vitals), start("publisher", publisher.run, stop, vitals)]
        try:
            lane.wait_for(b'"events":[]')
            yield log
        finally:
            stop.set()
            spool.wake()
            for thread in threads:
                thread.join(PATIENCE_SECONDS)

"""What tests of the agent's sources share: a spool, a source that fills it in its thread, a look at what came of it."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agent.main import utc_now
from agent.spool.limits import SpoolLimits
from agent.spool.opening import open_spool
from agent.spool.spool import Spool
from policies.contract.envelope import NodeIdentity
from tests.tools.agent_events import describe_loss, new_ids

NODE = NodeIdentity(cluster="c", name="n", instance_id="i-1", boot_id="b")
Begin = Callable[[Spool, threading.Event], threading.Thread]
PATIENCE_SECONDS = 60.0  # what takes longer on a machine that others load is no slowness


@contextmanager
def following(folder: Path, begin: Begin) -> Iterator[Spool]:
    """Keep a source that *begin* starts at work on the spool in *folder*, on the real clock."""
    with open_spool(
        folder,
        owner=NODE.instance_id,
        boot_id="b",
        limits=SpoolLimits(),
        clock=utc_now,
        new_id=new_ids(),
        describe_loss=describe_loss,
    ) as spool:
        stop = threading.Event()
        thread = begin(spool, stop)
        try:
            yield spool
        finally:
            stop.set()
            thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()


def started(run: Callable[[threading.Event], None], stop: threading.Event) -> threading.Thread:
    thread = threading.Thread(target=run, args=(stop,))
    thread.start()
    return thread


def waiting(spool: Spool) -> list[dict[str, Any]]:
    """Return the events that wait, and leave them there."""
    batch = spool.take(1 << 30)
    if batch is None:
        return []
    spool.release(batch)
    return [json.loads(event.body) for event in batch.events]


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.005)

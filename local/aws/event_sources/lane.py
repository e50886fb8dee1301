"""One lane of a stream: a thread that reads a shard (or a part of its keys) in order and gives up nothing silently.

What to do after an invocation is decided in stream_batches; where records come from is a `LaneSource`.
"""

import logging
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from local.aws.errors import UnsupportedError
from local.aws.event_sources import on_failure
from local.aws.event_sources.mapping import IDLE_SECONDS, ActiveMapping
from local.aws.event_sources.stream_batches import (
    Batch,
    Discarded,
    StreamRecord,
    StreamSettings,
    cut,
    judge,
    pause_seconds,
    without_expired,
)

LOOK_SECONDS = 0.1

_log = logging.getLogger(__name__)


class LaneSource(Protocol):
    """A shard, or the part of its keys that belongs to this lane."""

    shard: str

    def pending(self, limit: int) -> tuple[StreamRecord, ...]:
        """Up to `limit` records after the checkpoint, oldest first."""

    def checkpoint(self, last: StreamRecord) -> None:
        """All records up to this one are settled."""

    def close(self) -> None:
        """This lane reads no more."""


class Lane:
    """Reads, invokes, retries, checkpoints."""

    def __init__(
        self,
        mapping: ActiveMapping,
        source: LaneSource,
        settings: StreamSettings,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._mapping = mapping
        self._source = source
        self._settings = settings
        self._now = now

    def start(self) -> None:
        name = f"lane-{self._mapping.uuid[:8]}-{self._source.shard[-4:]}"
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def _run(self) -> None:
        while self._mapping.exists():
            try:
                self._step()
            except Exception:  # noqa: BLE001 - logged; a lane that ended would stop its shard without a word
                _log.exception("a lane of %s failed; it goes on from its checkpoint", self._mapping.uuid)
                time.sleep(IDLE_SECONDS)
        self._source.close()

    def _step(self) -> None:
        rings = self._mapping.bell.rings
        records = self._collect() if self._mapping.is_enabled() else ()
        if records:
            self._settle(Batch(records))
        else:
            self._mapping.bell.wait(rings, IDLE_SECONDS)

    def _collect(self) -> tuple[StreamRecord, ...]:
        """The next batch: full, or as full as it got within the batching window."""
        records = cut(self._source.pending(self._settings.batch_size), self._settings)
        deadline = time.monotonic() + self._settings.window_seconds
        while records and len(records) < self._settings.batch_size and time.monotonic() < deadline:
            rings = self._mapping.bell.rings
            self._mapping.bell.wait(rings, deadline - time.monotonic())
            # Each look takes all that is gathered in hand again: not at every ring.
            time.sleep(max(0.0, min(LOOK_SECONDS, deadline - time.monotonic())))
            records = cut(self._source.pending(self._settings.batch_size), self._settings)
        return records

    def _settle(self, first: Batch) -> None:
        """Try a batch and its parts, in order, until each record is through or given up."""
        waiting = [first]
        while waiting and self._mapping.exists():
            batch, expired = without_expired(waiting.pop(0), self._settings, self._now())
            if expired is not None:
                self._give_up(expired, handler_failed=expired.batch.tries > 0)
            if batch is not None:
                waiting = [*self._try(batch), *waiting]
        if not waiting:
            self._source.checkpoint(first.records[-1])

    def _try(self, batch: Batch) -> tuple[Batch, ...]:
        outcome = self._mapping.invoke({"Records": [record.event for record in batch.records]})
        verdict = judge(batch, outcome, self._settings)
        if verdict.discarded is not None:
            self._give_up(verdict.discarded, handler_failed=outcome.failed)
        if verdict.again and verdict.again[0].tries > batch.tries:
            time.sleep(pause_seconds(batch.tries))
        return verdict.again

    def _give_up(self, discarded: Discarded, *, handler_failed: bool) -> None:
        destination = self._settings.on_failure
        first = discarded.batch.records[0]
        _log.warning("%s gives up from %s on: %s", self._mapping.uuid, first.sequence, discarded.condition)
        if destination is None:
            return
        source = on_failure.Source(
            self._mapping.uuid, self._mapping.source_arn, self._source.shard, self._mapping.function().function_arn
        )
        now = self._now()
        record = on_failure.record_of(discarded, source, handler_failed=handler_failed, now=now)
        event = {"Records": [record.event for record in discarded.batch.records]}
        try:
            on_failure.send(destination, record, event, source, now)
        except UnsupportedError:
            raise
        except Exception:  # noqa: BLE001 - logged; as in Lambda, a failed delivery does not block the shard
            _log.exception("the on-failure destination %s did not take a record", destination)
            return
        action, resources = on_failure.grant_of(destination)
        self._mapping.record(action, resource=resources[0])

"""Sends batches that a mapping gave up back to their function's lane.

Decides by the stream they come from. Kinesis: the records go back on the stream, each under its own key, in order. A
table's stream takes no puts, so its function gets the batch once more: the guard looks at a policy as it stands, and
the outbox's announcements carry ids, so that an old change does no harm. The archive gets its batch once more as well,
whatever the stream: put again, the records would be archived under another time. It must not change a record.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from console.dlq.model import DlqError, Dropped, DroppedBatch, Outcome
from console.dlq.ports import DroppedBatches, Redrives, Stream, Targets
from console.dlq.records import KeyedPuts
from policies.contract.errors import RelightError


@dataclass(frozen=True)
class FailureRedrive:
    """One redrive of given-up batches. ``again`` sends also what was sent before, ``archive`` names that function."""

    dropped: DroppedBatches
    redrives: Redrives
    stream: Stream
    targets: Targets
    clock: Callable[[], datetime]
    again: bool = False
    dry: bool = False
    archive: str = ""

    def all(self, chosen: Sequence[Dropped]) -> Sequence[Outcome]:
        """Send these, oldest first."""
        done = self.redrives.times([one.key for one in chosen])
        puts = KeyedPuts(self.stream)
        return [
            self._one(one.key, done.get(one.key), puts) for one in sorted(chosen, key=lambda one: (one.at, one.key))
        ]

    def _one(self, key: str, done_at: datetime | None, puts: KeyedPuts) -> Outcome:
        if done_at and not self.again:
            return Outcome(key, "refused", f"redriven at {done_at:%Y-%m-%d %H:%M}Z; --again repeats")
        try:
            batch = self.dropped.load(key)
            told = describe(batch, called=self._is_called(batch))
            if self.dry:
                return Outcome(key, "planned", told)
            self._send(batch, puts)
            self.redrives.mark(key, self.clock())
        except RelightError as error:
            return Outcome(key, "failed", str(error))
        return Outcome(key, "redriven", told)

    def _is_called(self, batch: DroppedBatch) -> bool:
        return batch.is_table or (self.archive != "" and self.archive in batch.function.split(":"))

    def _send(self, batch: DroppedBatch, puts: KeyedPuts) -> None:
        if self._is_called(batch):
            failed = self.targets.call(batch.function, batch.event)
            what = "changes failed again" if batch.is_table else "records failed again"
        else:
            failed = puts.put_all((record.key, record.data) for record in batch.records)
            what = f"of {len(batch.records)} records did not get through"
        if failed:
            raise DlqError(f"{len(failed)} {what}, the first: {failed[0]}.", hint="Mend the cause and redrive again.")


def describe(batch: DroppedBatch, *, called: bool) -> str:
    """Return what the batch is and where it goes: to its function, if that is *called*."""
    if called and not batch.is_table:
        return f"{len(batch.records)} records to {batch.function.rpartition(':')[2]}"
    if called:
        return f"changes of {batch.stream.split(':table/')[-1].split('/')[0]} to {batch.function.rpartition(':')[2]}"
    keys = len({record.key for record in batch.records})
    return f"{len(batch.records)} records of {keys} nodes to the stream"

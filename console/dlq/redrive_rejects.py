"""Sends rejected records back to the `faults` stream, as their payloads stand.

Decides what can go: only what this version of the contract can read, since anything else would come straight back.
A whole record goes under its node's key with its own spool and numbers; a single event travels in an envelope with a
spool of its own (triage made it so), or triage would take it for a repeat. First the put, then the mark: a crash
between them repeats the put, which triage drops by its numbers. It must not change a payload.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from console.dlq.model import Outcome
from console.dlq.ports import Redrives, Stream
from console.dlq.records import KeyedPuts
from functions.ports.triage import Reject, RejectStore, RejectSummary
from policies.contract.envelope import parse_envelope
from policies.contract.errors import BadInputError, RelightError


@dataclass(frozen=True)
class RejectRedrive:
    """One redrive of rejects. ``again`` sends also what was sent before."""

    rejects: RejectStore
    redrives: Redrives
    stream: Stream
    clock: Callable[[], datetime]
    again: bool = False
    dry: bool = False

    def all(self, summaries: Sequence[RejectSummary]) -> Sequence[Outcome]:
        """Send these, oldest first."""
        done = self.redrives.times([one.id for one in summaries])
        puts = KeyedPuts(self.stream)
        oldest_first = sorted(summaries, key=lambda one: one.arrived_at)
        return [self._one(one, done.get(one.id), puts) for one in oldest_first]

    def _one(self, line: RejectSummary, done_at: datetime | None, puts: KeyedPuts) -> Outcome:
        if done_at and not self.again:
            return Outcome(line.id, "refused", f"redriven at {done_at:%Y-%m-%d %H:%M}Z; --again repeats")
        try:
            reject = self.rejects.load(line)
            if reject is None:
                return Outcome(line.id, "failed", "its payload is gone: it outlived the retention of the store")
            return self._send(reject, puts)
        except RelightError as error:
            return Outcome(line.id, "failed", str(error))

    def _send(self, reject: Reject, puts: KeyedPuts) -> Outcome:
        try:
            key = key_of(reject)
        except BadInputError as error:
            return Outcome(reject.id, "refused", f"still unusable: {error}")
        if self.dry:
            return Outcome(reject.id, "planned", f"{len(reject.payload)} bytes to the stream under {key}")
        refused = puts.put(key, reject.payload)
        if refused:
            return Outcome(reject.id, "failed", refused)
        self.redrives.mark(reject.id, self.clock())
        return Outcome(reject.id, "redriven", f"to the stream under {key}")


def key_of(reject: Reject) -> str:
    """Return the partition key of its node; BadInputError when the payload would only be rejected again."""
    parsed = parse_envelope(reject.payload)
    if parsed.rejected:
        raise BadInputError(
            f"{parsed.rejected[0].reason}.", hint="Update the pipeline, and this relight with it, then redrive."
        )
    return parsed.envelope.node.instance_id

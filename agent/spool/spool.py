"""The agent's memory: events wait here, on disk, until a lane acknowledged them.

One append holds the events of a read, their sequence numbers and how far the source then is: after a crash at any byte
nothing is there twice and nothing is missing. What was written survives the process, and the machine once `sync` has
run: once a second, on a thread of its own, since a fault is told in milliseconds and a sick disk may take minutes.
No seq of an id is ever given to a second event: what might have been sent and not be on the disk (another boot, a disk
that refuses) goes on under a new id, counted from 0.

Bounded: when the events that wait take too much, the least severe go first; what is too old goes as well; and what went
is itself an event. When the disk refuses, the spool goes on in memory, and returns to disk when it can: a failing disk
is a fault worth telling.

Decides numbering and what is on its way. It must not know envelopes, lanes or kinds.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent.spool.disk import Disk, sync_and_close
from agent.spool.journal import Journal
from agent.spool.limits import Loss, SpoolLimits, excess_events, expired_events, loss_of
from agent.spool.state import Progress, SpoolState, WaitingEvent, encode, event_line, progress_entry, ranges_of
from policies.contract.events import FaultEvent
from policies.contract.vocabulary import Severity

log = logging.getLogger(__name__)

MAX_EVENTS_AN_APPEND = 512
_SYNC_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Batch:
    """Events on their way, in rising order of seq, and the spool id under which they count."""

    spool_id: str
    events: tuple[WaitingEvent, ...]


class Spool:
    """Safe for threads. Every method returns soon: none waits for the network, only `sync` waits for the disk."""

    def __init__(
        self,
        state: SpoolState,
        path: Path,
        journal: Journal | None,
        *,
        limits: SpoolLimits,
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        describe_loss: Callable[[str, Loss], FaultEvent],
    ) -> None:
        """Go on with *state* and *journal*; `agent.spool.opening.open_spool` finds both."""
        self._state = state
        self._limits = limits
        self._clock = clock
        self._new_id = new_id
        self._describe_loss = describe_loss
        self._in_flight: set[int] = set()
        self._changed = threading.Condition()
        self._version = 0
        self._listeners: list[Callable[[Sequence[FaultEvent]], None]] = []
        self._severe = 0
        self._disk = Disk(path, journal, contents=self._state.lines, clock=clock)
        self._durable_id = True
        self._moved: dict[tuple[str, int], int] = {}  # what is under way under an older id -> its seq now

    def append(self, events: Sequence[FaultEvent], progress: Progress | None = None) -> None:
        """Let *events* wait under the next seqs (theirs are ignored) and note how far their source is, as one."""
        assert len(events) <= MAX_EVENTS_AN_APPEND, "split what is longer"
        with self._changed:
            now = self._clock()
            added = self._number(events, now)
            self._disk.write(event_line(added, progress_entry(progress) if progress else None))
            for event in added:
                self._state.add(event)
            self._severe += sum(event.rank >= Severity.ERROR.rank for event in added)
            if progress:
                self._state.advance(progress)
            self._make_room(now)
            self._renounce()
            self._notify()
        for listener in self._listeners:
            listener(events)

    def listen(self, listener: Callable[[Sequence[FaultEvent]], None]) -> None:
        """Call *listener* with what is appended from now on, in the thread that appends: it has to return at once."""
        self._listeners.append(listener)

    def take(self, max_bytes: int, *, max_events: int = 500, min_rank: int = 0) -> Batch | None:
        """Return the oldest events of at least this severity that are not under way, and mark them so; None: none."""
        with self._changed:
            self._expire(self._clock())
            self._renounce()
            chosen: list[WaitingEvent] = []
            for event in self._idle():
                if event.rank < min_rank:
                    continue
                max_bytes -= len(event.body) + 1
                if chosen and (max_bytes < 0 or len(chosen) == max_events):
                    break
                chosen.append(event)
            self._in_flight.update(event.seq for event in chosen)
            return Batch(self._state.spool_id, tuple(chosen)) if chosen else None

    def acknowledge(self, batch: Batch) -> None:
        """Forget the events of *batch*: a lane has them."""
        with self._changed:
            ranges = ranges_of(self._land(batch))
            self._disk.write(encode({"done": ranges}))
            self._state.finish(ranges)
            self._disk.rewrite_if_mostly_done(self._state.bytes_waiting)
            self._renounce()

    def release(self, batch: Batch) -> None:
        """Let the events of *batch* wait again: no lane has them, as far as anyone knows."""
        with self._changed:
            self._land(batch)

    def sync(self) -> None:
        """Wait until what was written so far is durable; a disk that refuses is left, nothing is raised."""
        with self._changed:
            descriptor = self._disk.duplicate_unsynced()
        if descriptor is None:
            return
        try:
            sync_and_close(descriptor)
        except OSError as error:
            with self._changed:
                self._disk.leave(error)
                self._renounce()

    def keep_durable(self, stop: threading.Event) -> None:
        """Sync every second in which something was written, until *stop*."""
        while not stop.wait(_SYNC_SECONDS):
            self.sync()

    def wait(self, seen: int, timeout: float) -> int:
        """Return the count of appends as soon as it differs from *seen*, or after *timeout* seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._version != seen, timeout)
            return self._version

    def wake(self) -> None:
        """Let `wait` return."""
        with self._changed:
            self._notify()

    def progress(self, source: str) -> Progress | None:
        """Return how far *source* was when it last said so, with all its open bursts; None when it never did."""
        with self._changed:
            if source not in self._state.cursors:
                return None
            return Progress(source, self._state.cursors[source], dict(self._state.bursts.get(source, {})))

    @property
    def heartbeat(self) -> tuple[str, int]:
        """The spool's id and the next seq: what an empty envelope says."""
        with self._changed:
            return self._state.spool_id, self._state.next_seq

    @property
    def waiting(self) -> int:
        """How many events nobody has acknowledged."""
        with self._changed:
            return len(self._state.waiting)

    @property
    def severe(self) -> int:
        """How many events of severity error and above were appended by this process."""
        with self._changed:
            return self._severe

    @property
    def bytes_waiting(self) -> int:
        """How many bytes they have."""
        with self._changed:
            return self._state.bytes_waiting

    @property
    def on_disk(self) -> bool:
        """Whether what is appended now outlives the process."""
        with self._changed:
            return self._disk.usable

    def begin(self, boot_id: str, *, damaged: int) -> None:
        """Begin anew if this is another boot or there is no file yet; tell of *damaged* lines."""
        with self._changed:
            if boot_id != self._state.boot_id:
                self._state.boot_id = boot_id
                self._state.rename(self._new_id())
                self._disk.rewrite()
            elif not self._disk.usable:
                self._disk.rewrite()
            if damaged:
                first = self._state.next_seq
                # Nobody knows how many events stood in a damaged line; a lane may have them, so no seq is used again.
                self._state.next_seq += damaged * MAX_EVENTS_AN_APPEND
                self._lose(Loss("damaged", damaged, first, self._state.next_seq - 1), [], self._clock())
            self._renounce()

    def close(self) -> None:
        """Let go of the file; what waits is there at the next open."""
        self.sync()
        with self._changed:
            self._disk.close()

    def _idle(self) -> Iterator[WaitingEvent]:
        return (event for event in self._state.waiting.values() if event.seq not in self._in_flight)

    def _number(self, events: Sequence[FaultEvent], now: datetime) -> list[WaitingEvent]:
        first, at = self._state.next_seq, now.timestamp()
        numbered = [event.model_copy(update={"seq": seq}) for seq, event in enumerate(events, start=first)]
        return [WaitingEvent(event.seq, event.severity.rank, at, event.to_json().encode()) for event in numbered]

    def _make_room(self, now: datetime) -> None:
        self._expire(now)
        victims = excess_events(self._idle(), self._state.bytes_waiting, self._limits)
        if victims:
            self._lose(loss_of("full", victims), victims, now)
        if self._disk.size > self._limits.max_bytes:
            self._disk.rewrite()

    def _expire(self, now: datetime) -> None:
        victims = expired_events(self._idle(), now, self._limits)
        if victims:
            self._lose(loss_of("too_old", victims), victims, now)

    def _lose(self, loss: Loss, victims: Sequence[WaitingEvent], now: datetime) -> None:
        log.error("spool gave events up", extra={"reason": loss.reason, "count": loss.count})
        told = self._number([self._describe_loss(self._state.spool_id, loss)], now)
        ranges = ranges_of(event.seq for event in victims)
        self._disk.write(event_line(told, {"done": ranges}))
        self._state.add(told[0])
        self._state.finish(ranges)

    def _renounce(self) -> None:
        """Off the disk, count under a new id: whoever opens the old file gives the same seqs to other events.

        Every method that may have written ends with it, so that within one method numbers stay what they are.
        """
        was_durable, self._durable_id = self._durable_id, self._disk.usable
        if self._durable_id or not was_durable:
            return
        before = self._state.spool_id
        moved = self._state.rename(self._new_id())
        self._moved = {place: moved[seq] for place, seq in self._moved.items() if seq in moved}
        self._moved |= {(before, seq): moved[seq] for seq in self._in_flight if seq in moved}
        self._in_flight = {moved[seq] for seq in self._in_flight if seq in moved}

    def _land(self, batch: Batch) -> list[int]:
        """Return the seqs that the events of *batch* have now; they are no longer under way."""
        same = batch.spool_id == self._state.spool_id
        seqs = [event.seq if same else self._moved.pop((batch.spool_id, event.seq), None) for event in batch.events]
        landed = [seq for seq in seqs if seq is not None]
        self._in_flight.difference_update(landed)
        return landed

    def _notify(self) -> None:
        self._version += 1
        self._changed.notify_all()

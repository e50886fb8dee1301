"""What a spool holds: which events wait, how far each source is. Rebuilt by applying the journal's lines in order.

Decides what a line means and which event goes first when there is no room. It must not know files, locks or clocks.

Lines (JSON objects; keys may stand together in one line, which is applied whole or not at all):

    {"spool": id, "owner": instance id, "boot": id, "next_seq": 7, "sources": {name: {"cursor": .., "bursts": {..}}}}
    {"at": unix seconds, "events": [{"seq": 7, ...}]}                 events that wait
    {"source": name, "cursor": .., "bursts": {key: {..} or null}}     how far the source is; null ends a burst
    {"done": [[3, 6]]}                                                these were acknowledged or given up
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from policies.contract.base import fit_for_queues
from policies.contract.vocabulary import Severity

FORMAT = 2
Json = Any
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a source is: ``cursor`` is its own word for the place, ``bursts`` what changed in its open bursts.

    A cursor of None forgets the source: what it followed is gone.
    """

    source: str
    cursor: Json
    bursts: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WaitingEvent:
    """One event nobody acknowledged. ``body`` is its wire form, ``rank`` its severity's, ``at`` when it came (unix)."""

    seq: int
    rank: int
    at: float
    body: bytes

    def renumbered(self, seq: int) -> "WaitingEvent":
        """Return the same event under another seq."""
        return WaitingEvent(seq, self.rank, self.at, encode({**json.loads(self.body), "seq": seq}))


@dataclass(slots=True)
class SpoolState:
    """Everything that the journal says."""

    spool_id: str
    owner: str
    boot_id: str
    next_seq: int = 0
    waiting: dict[int, WaitingEvent] = field(default_factory=dict)
    cursors: dict[str, Json] = field(default_factory=dict)
    bursts: dict[str, dict[str, Json]] = field(default_factory=dict)
    bytes_waiting: int = 0

    def add(self, event: WaitingEvent) -> None:
        """Let *event* wait."""
        self.waiting[event.seq] = event
        self.bytes_waiting += len(event.body)
        self.next_seq = max(self.next_seq, event.seq + 1)

    def finish(self, ranges: Iterable[Range]) -> None:
        """Forget the events of *ranges* (first and last seq, both inclusive)."""
        for first, last in ranges:
            for seq in [seq for seq in range(first, last + 1) if seq in self.waiting]:
                self.bytes_waiting -= len(self.waiting.pop(seq).body)

    def advance(self, progress: Progress) -> None:
        """Note how far a source is."""
        if progress.cursor is None:
            self.cursors.pop(progress.source, None)
            self.bursts.pop(progress.source, None)
            return
        self.cursors[progress.source] = progress.cursor
        open_bursts = self.bursts.setdefault(progress.source, {})
        for key, burst in progress.bursts.items():
            if burst is None:
                open_bursts.pop(key, None)
            else:
                open_bursts[key] = burst

    def rename(self, spool_id: str) -> dict[int, int]:
        """Begin to count anew under *spool_id*; return the new seq of each old one that waits."""
        renumbered = [event.renumbered(seq) for seq, event in enumerate(self.waiting.values())]
        moved = dict(zip(self.waiting, (event.seq for event in renumbered), strict=True))
        self.spool_id, self.next_seq, self.bytes_waiting, self.waiting = spool_id, 0, 0, {}
        for event in renumbered:
            self.add(event)
        return moved

    def head(self) -> bytes:
        """Return the line a journal starts with, which replaces all lines so far but the waiting events."""
        names = self.cursors.keys()
        sources = {name: {"cursor": self.cursors[name], "bursts": self.bursts.get(name, {})} for name in names}
        whose = {"spool": self.spool_id, "owner": self.owner, "boot": self.boot_id}
        return encode({**whose, "next_seq": self.next_seq, "sources": sources, "format": FORMAT})

    def lines(self) -> Iterator[bytes]:
        """Return a journal that says the same as all lines so far."""
        yield self.head()
        for event in self.waiting.values():
            yield event_line([event])


def encode(entry: Mapping[str, Json]) -> bytes:
    """Return *entry* as JSON text without line breaks."""
    text = json.dumps(entry, separators=(",", ":"), ensure_ascii=False)
    return fit_for_queues(text).encode("utf-8", "replace")


def event_line(events: Sequence[WaitingEvent], rest: Mapping[str, Json] | None = None) -> bytes:
    """Return the line that adds *events* and whatever *rest* says, as one."""
    tail = encode(rest)[1:] if rest else b"}"
    if not events:
        return b"{" + tail
    bodies = b",".join(event.body for event in events)
    return b'{"at":%.3f,"events":[%b]%b%b' % (events[0].at, bodies, b"," if rest else b"", tail)


def progress_entry(progress: Progress) -> dict[str, Json]:
    """Return the part of a line that *progress* is."""
    return {"source": progress.source, "cursor": progress.cursor, "bursts": dict(progress.bursts)}


def apply_head(entry: Mapping[str, Json]) -> SpoolState | None:
    """Return the state that a head line starts; None when *entry* is no head line of this format."""
    if entry.get("format") != FORMAT:
        return None
    state = SpoolState(entry["spool"], entry["owner"], entry["boot"], entry["next_seq"])
    for name, source in entry["sources"].items():
        state.advance(Progress(name, source["cursor"], source["bursts"]))
    return state


def apply_line(state: SpoolState, entry: Mapping[str, Json]) -> None:
    """Change *state* as one line says."""
    for event in entry.get("events", ()):
        rank = Severity(event["severity"]).rank
        state.add(WaitingEvent(event["seq"], rank, float(entry["at"]), encode(event)))
    if "source" in entry:
        state.advance(Progress(entry["source"], entry["cursor"], entry["bursts"]))
    state.finish((first, last) for first, last in entry.get("done", ()))


def ranges_of(seqs: Iterable[int]) -> list[Range]:
    """Return *seqs* as the fewest ranges, in rising order."""
    found: list[Range] = []
    for seq in sorted(seqs):
        if found and seq == found[-1][1] + 1:
            found[-1] = (found[-1][0], seq)
        else:
            found.append((seq, seq))
    return found

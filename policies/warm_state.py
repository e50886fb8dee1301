"""A node's state that goes on from batch to batch as it is, for whoever judges a long time in one go.

Decides nothing: after `go_on` it is what `NodeState.load` makes of what `dump` returns, and mostly without that text,
which takes longer than to judge a burst. What is cancelled, agrees in a value or comes near a bound is rare, and goes
through the text. It must not know who keeps it.
"""

from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from policies.alike import MARK
from policies.node_state import (
    LARGEST_TEXT,
    MOST_COUNTERS,
    MOST_GPUS,
    MOST_SPOOLS,
    VERSION,
    NodeState,
    encode,
    horizon_of,
    in_order,
)
from policies.sequences import Sequences
from policies.windows import Counter

_A_SPOOL = 12_000  # bytes at most, with as many ranges and gaps as `Sequences` keeps
_NEVER = 2**63
Document = dict[str, Any]


class WarmState(NodeState):
    """See the module. A batch that broke half-way leaves it as nothing that can go on."""

    def __init__(self, document: Document | None = None) -> None:
        """Take a *document* that `dump` wrote; None is a node never heard of."""
        super().__init__(document)
        self._resting: dict[str, Counter] = {}  # counters that go on without their JSON
        self._marks: dict[str, tuple[int, int]] = {}  # newest moment and most bytes of each of them
        self._size = 0
        self._expires = _NEVER  # the first of them may go then, by these horizons:
        self._horizons: Mapping[str, int] | None = None
        self._has_values = False

    def _load_counter(self, key: str) -> Counter | None:
        return self._resting.get(key) or super()._load_counter(key)

    def _dump_counters(self) -> Document:
        return {**{key: counter.dump() for key, counter in self._resting.items()}, **super()._dump_counters()}

    def counts_for(self, policy: str) -> bool:
        """Whether anything is counted, or has to last, for *policy*."""
        return super().counts_for(policy) or any(key.startswith(f"{policy}|") for key in self._resting)

    def go_on(self, reference: int, horizons: Mapping[str, int]) -> int:
        """Become what `load` makes of what `dump` returns; return how many counters and dwells did not fit."""
        if self._counters:
            for key in self._counters.keys() - self.touched_counters.keys():
                self._rest(key, Counter.load(self._counters[key]), horizons)
            self._counters = {}
        for key, counter in self.touched_counters.items():
            self._rest(key, counter, horizons)
        self.touched_counters = {}
        if not self._is_simple():
            raw, lost = self.dump(reference, horizons)
            WarmState.__init__(self, from_json(raw))
            return lost
        if reference > self._expires or horizons is not self._horizons:
            self._expire(reference, horizons)
        lost = 0
        if self.has_dwells:
            self._touched_dwells, lost = self._keep_dwells(reference, horizons)
            self._dwells = {}
        for name, spool in self._touched_spools.items():
            self._spools[name] = spool.dump()
        if self._gpus:
            self._gpus = in_order(self._gpus)
        self.stay()
        return lost

    def stay(self) -> None:
        """Forget what was only looked at: nothing has changed. What lasts stays loaded."""
        self._touched_spools, self.touched_counters = {}, {}

    @property
    def text(self) -> str:
        """What `load` reads. Nothing was touched since it was loaded, went on or stayed."""
        dwells = {**self._dwells, **{key: dwell.dump() for key, dwell in self._touched_dwells.items()}}
        parts = {"d": dwells, "x": self.cancelled, "g": self._gpus}
        held = {name: part for name, part in parts.items() if part}
        return encode({"v": VERSION, "s": self._spools, "c": self._dump_counters(), **held}).decode()

    def is_told(self, spool: str, first_seq: int) -> bool:
        """Whether an empty envelope of *spool*, at *first_seq*, tells nothing, now or at any time."""
        dumped = self._spools.get(spool)
        known = Sequences(spool) if dumped is None else Sequences.load(spool, dumped)
        return not self.has_dwells and known.is_told(first_seq)

    def _rest(self, key: str, counter: Counter, horizons: Mapping[str, int]) -> None:
        newest, size = counter.rest()
        known = self._marks.get(key)
        if known is None:
            self._size += 6 * len(key)
            self._has_values = self._has_values or MARK in key
            self._resting[key] = counter
        else:
            self._size -= known[1]
        self._size += size
        self._marks[key] = (newest, size)
        ends = newest + horizon_of(key, horizons)
        self._expires = min(self._expires, ends)

    def _is_simple(self) -> bool:
        """Whether nothing has to go for want of room, and nothing was cancelled or agrees in a value."""
        if self._has_values or self.cancelled:
            return False
        spools = {**self._spools, **self._touched_spools} if len(self._spools) > 1 else self._touched_spools
        size = self._size + _A_SPOOL * (1 + len(spools))
        size += sum([64 + 6 * len(uuid) for _moment, uuid in self._gpus.values()]) if self._gpus else 0
        size += sum([6 * len(key) + self.dwell(key).room for key in self.dwells]) if self.has_dwells else 0
        few = len(self._marks) <= MOST_COUNTERS and len(spools) < MOST_SPOOLS and len(self._gpus) <= MOST_GPUS
        return few and size <= LARGEST_TEXT

    def _expire(self, reference: int, horizons: Mapping[str, int]) -> None:
        ends = {key: newest + horizon_of(key, horizons) for key, (newest, _size) in self._marks.items()}
        for key in [key for key, end in ends.items() if end < reference]:
            del self._resting[key], ends[key]
            self._size -= 6 * len(key) + self._marks.pop(key)[1]
        self._expires, self._horizons = min(ends.values(), default=_NEVER), horizons

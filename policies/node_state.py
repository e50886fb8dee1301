"""What triage remembers of one node between batches, as one compact JSON document.

Decides its shape and its bounds. Parts that a batch does not touch stay as they were read. It must not know where the
document is kept.
"""

from collections.abc import Mapping
from typing import Any, Self

from pydantic_core import from_json, to_json

from policies.alike import newest_values
from policies.contract.parts import gpu_names
from policies.dwell import Dwell
from policies.measures import LATENESS_MS
from policies.sequences import Sequences
from policies.windows import Counter

VERSION = 1
# An agent has one. Intake opens one for each of AWS's own events, a redriven reject has its own: those hold one number.
MOST_SPOOLS = 16
MOST_COUNTERS = 256
MOST_DWELLS = 32
MOST_CANCELLED = 32
MOST_GPUS = 16
LONGEST_UUID = 64  # a GPU's has 40 characters (nvml.h, nvmlDeviceGetUUID); others are no name of one
UNREADABLE = "?"  # stands for a document that looks sound and is not: `NodeState.load` answers None
LARGEST_TEXT = 256 * 1024  # bytes; a DynamoDB item holds 400 KB; a usual state has a few hundred bytes
_PLAIN = 3  # parts of a counter for which nothing lasts
Document = dict[str, Any]


class NodeState:
    """The mutable working copy of one document, for the time of one evaluation."""

    def __init__(self, document: Document | None = None) -> None:
        """Take a *document* that `dump` wrote; None is a node never heard of."""
        known = document or {}
        self._spools: Document = known.get("s", {})
        self._counters: Document = known.get("c", {})
        self._dwells: Document = known.get("d", {})
        self.cancelled: Document = known.get("x", {})  # what took reasons away: policy and part -> when, by what
        self._gpus: Document = known.get("g", {})  # address -> when it was last told with its UUID, that
        self._begin()

    def _begin(self) -> None:
        self._touched_spools: dict[str, Sequences] = {}
        self.touched_counters: dict[str, Counter] = {}
        self._touched_dwells: dict[str, Dwell] = {}

    @classmethod
    def load(cls, text: str) -> Self | None:
        """Return the state in *text* ("" is a fresh one), None when it cannot be read."""
        if not text:
            return cls()
        try:
            document = from_json(text)  # twice as fast as `json`, as is `to_json`; sorting is ours then
        except ValueError:
            return None
        sound = isinstance(document, dict) and document.get("v") == VERSION
        return cls(document) if sound else None

    def spool(self, name: str) -> Sequences:
        """Return the sequence numbers of one spool."""
        known = self._touched_spools.get(name)
        if known is None:
            dumped = self._spools.get(name)
            known = Sequences(name) if dumped is None else Sequences.load(name, dumped)
            self._touched_spools[name] = known
        return known

    def counter(self, key: str, revision: int) -> Counter:
        """Return what is counted under *key*; a new counter is of *revision*."""
        known = self.touched_counters.get(key)
        if known is None:
            known = self._load_counter(key)
            if known is None:
                known = Counter(revision)
            self.touched_counters[key] = known
        return known

    def _load_counter(self, key: str) -> Counter | None:
        dumped = self._counters.get(key)
        return None if dumped is None else Counter.load(dumped)

    def dwell(self, key: str) -> Dwell:
        """Return how long what *key* names has held."""
        known = self._touched_dwells.get(key)
        if known is None:
            known = self._touched_dwells[key] = Dwell(self._dwells.get(key))
        return known

    def name_gpu(self, pci: str, uuid: str, moment: int) -> bool:
        """Note that the GPU at *pci* has that *uuid*, and return whether that is news.

        One that was exchanged has another later.
        """
        told = [moment, uuid]
        known = self._gpus.get(pci)
        if (known is not None and told <= known) or len(uuid) > LONGEST_UUID:
            return False
        self._gpus[pci] = told
        return known is None or known[1] != uuid

    @property
    def gpus(self) -> list[tuple[str, str]]:
        """Address and UUID of each GPU that was told with both."""
        return [(pci, uuid) for pci, (_moment, uuid) in self._gpus.items()]

    def join_dwells(self, key: str, other: str) -> None:
        """Have what *other* names go on under *key*: both are of one part."""
        self.dwell(key).join(self.dwell(other))
        self._dwells.pop(other, None)
        self._touched_dwells.pop(other, None)

    def names_of(self, component: str) -> tuple[str, ...]:
        """Return the names that a GPU has besides those in the key *component*."""
        named = gpu_names(component)
        pairs = ({pci, uuid} for pci, (_moment, uuid) in self._gpus.items())
        return tuple(sorted({name for pair in pairs if pair & named for name in pair - named})) if named else ()

    def counts_for(self, policy: str) -> bool:
        """Whether anything is counted, or has to last, for *policy*."""
        kept = (self._counters, self.touched_counters, self._dwells, self._touched_dwells)
        return any(key.startswith(f"{policy}|") for one in kept for key in one)

    @property
    def has_dwells(self) -> bool:
        """Whether anything has to last."""
        return bool(self._dwells or self._touched_dwells)

    @property
    def dwells(self) -> list[str]:
        """The keys of all conditions that have to last; hardly any node has one."""
        return sorted({*self._dwells, *self._touched_dwells})

    @property
    def spools(self) -> list[Sequences]:
        """The spools that were touched."""
        return list(self._touched_spools.values())

    @property
    def changed(self) -> bool:
        """Whether there is anything to write."""
        return any(spool.changed for spool in self.spools)

    def dump(self, reference: int, horizons: Mapping[str, int]) -> tuple[str, int]:
        """Return the document and how many counters and dwells did not fit.

        *reference* (ms) is the newest moment of this batch: what a policy counted longer ago than its horizon goes. The
        wall clock would not do: a replay after an outage would forget what it has just counted.
        """
        spools = {**self._spools, **{name: spool.dump() for name, spool in self._touched_spools.items()}}
        counters = self._dump_counters()
        fresh = {key: one for key, one in counters.items() if _newest(one) >= reference - horizon_of(key, horizons)}
        alike = newest_values(fresh, _newest)
        document: Document = {"v": VERSION, "s": _heard_last(spools), "c": _newest_of(alike, MOST_COUNTERS)}
        lost = 0
        if self._dwells or self._touched_dwells:
            dwells, lost = self._keep_dwells(reference, horizons)
            document |= {"d": {key: dwell.dump() for key, dwell in dwells.items()}} if dwells else {}
        if late := _late_enough(self.cancelled, reference):
            document["x"] = late
        if self._gpus:
            document["g"] = _last_told(self._gpus)
        raw = encode(document)
        while len(raw) > LARGEST_TEXT and document["c"]:
            document["c"] = _newest_of(document["c"], len(document["c"]) // 2)
            raw = encode(document)
        return raw.decode(), len(fresh) - len(document["c"]) + lost

    def _dump_counters(self) -> Document:
        return {**self._counters, **{key: counter.dump() for key, counter in self.touched_counters.items()}}

    def _keep_dwells(self, reference: int, horizons: Mapping[str, int]) -> tuple[dict[str, Dwell], int]:
        """Return what may still last, or what ended and older events may come after; and how many are lost."""
        kept: list[tuple[bool, int, str, Dwell]] = []
        for key in self.dwells:
            dwell = self.dwell(key)
            holds = dwell.prune(reference - LATENESS_MS) is not None
            horizon, moment = horizon_of(key, horizons) if holds else LATENESS_MS, dwell.moment
            if moment >= reference - horizon:
                kept.append((holds, moment, key, dwell))
        most = sorted(kept, key=lambda one: one[:3], reverse=True)[:MOST_DWELLS] if len(kept) > MOST_DWELLS else kept
        return {key: dwell for _holds, _moment, key, dwell in most}, len(kept) - len(most)


def _late_enough(cancelled: Document, reference: int) -> Document:
    """Return what older events may still come after, of very many the newest."""
    kept = [(told, key) for key, told in cancelled.items() if told[0] >= reference - LATENESS_MS]
    return {key: told for told, key in sorted(kept, reverse=True)[:MOST_CANCELLED]}


def _last_told(gpus: Document) -> Document:
    if len(gpus) <= MOST_GPUS:
        return gpus
    return dict(sorted(gpus.items(), key=lambda one: (one[1], one[0]))[-MOST_GPUS:])


def encode(document: Document) -> bytes:
    """Return *document* with the names of its parts in order; within them, all is in an order of its own."""
    return to_json({part: in_order(document[part]) for part in ("c", "d", "g", "s", "v", "x") if part in document})


def in_order(part: Any) -> Any:  # noqa: ANN401 - the version is a number
    """Return *part* of a document with its names in order, if it has names: the same state is the same text."""
    return dict(sorted(part.items())) if isinstance(part, dict) and len(part) > 1 else part


def horizon_of(key: str, horizons: Mapping[str, int]) -> int:
    """Return how long (ms) what is kept under *key*, policy and part, matters: *horizons* are by policy."""
    return horizons.get(key.partition("|")[0], LATENESS_MS)


def _newest(dumped: list[Any]) -> int:
    """Return the newest moment of what `Counter.dump` wrote: of points, and of what lasts if there is any."""
    points = dumped[1]
    newest: int = points[0][1] if len(points) == 1 else max((point[1] for point in points), default=0)
    return max(newest, *(int(one[2]) for one in dumped[3])) if len(dumped) > _PLAIN else newest


def _newest_of(counters: Document, most: int) -> Document:
    if len(counters) <= most:
        return counters
    keys = sorted(counters, key=lambda key: (_newest(counters[key]), key), reverse=True)[:most]
    return {key: counters[key] for key in keys}


def _heard_last(spools: Document) -> Document:
    """Keep spools of many numbers before those of one, which nobody continues, and the last heard before older ones."""
    if len(spools) <= MOST_SPOOLS:
        return spools
    names = sorted(spools, key=lambda name: (_is_long(spools[name]), spools[name][3], name))[-MOST_SPOOLS:]
    return {name: spools[name] for name in names}


def _is_long(dumped: list[Any]) -> bool:
    ranges, claimed, *_ = dumped
    return bool(claimed > 1 or (ranges and ranges[-1][1] > 0))

"""Coordinate's documents during a replay: those of `policies.coordination.memory`, with closed incidents kept small.

A month has thousands of incidents and hardly one of them is open: closed ones go into a file without a name, packed,
and come back when somebody asks. It must not decide anything.
"""

import zlib
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from tempfile import TemporaryFile
from typing import Any
from weakref import finalize

from policies.contract.base import Model
from policies.coordination.budgets import Budget
from policies.coordination.denying import is_recorded_for_a_no
from policies.coordination.holds import Job
from policies.coordination.incident import Incident
from policies.coordination.leases import Lease
from policies.coordination.memory import Key, MemoryStore
from policies.coordination.snapshot import AnyChange
from policies.coordination.windows import Window
from policies.facts.history import History
from policies.facts.recent import Recent
from policies.precision.misses import Misses
from policies.precision.record import Record

KINDS: Mapping[str, type[Model]] = {
    "_incidents": Incident,
    "_leases": Lease,
    "_jobs": Job,
    "_budgets": Budget,
    "_windows": Window,
    "_histories": History,
    "_recents": Recent,
    "_records": Record,
    "_misses": Misses,
}
"""Where `MemoryStore` keeps each kind of document. A test holds the two together."""
_LENGTH_BITS = 24  # an incident has 400 KB at most
LATELY_CLOSED = 1_000  # some 15 MB as they are; the next finding of their nodes asks for them


class Shelf(dict[Key, Incident]):
    """A dict of incidents that packs those that have been closed for a while."""

    def __init__(self) -> None:
        """Start empty."""
        super().__init__()
        self._packed: dict[Key, int] = {}  # where in the file, and how long (the last 24 bits)
        self._file = TemporaryFile()  # noqa: SIM115 - it lives as long as the shelf, and has no name
        self._end = 0
        finalize(self, self._file.close)
        self._closed: dict[Key, None] = {}  # not packed yet, the longest closed first

    def __contains__(self, key: object) -> bool:
        """Whether it is here, packed or not."""
        return super().__contains__(key) or key in self._packed

    def __getitem__(self, key: Key) -> Incident:
        """Return it."""
        packed = self._packed.get(key)
        return super().__getitem__(key) if packed is None else self._unpacked(packed)

    def get(self, key: Key, default: Any = None) -> Any:  # noqa: ANN401 - as a dict's
        """Return it, or *default*."""
        packed = self._packed.get(key)
        return super().get(key, default) if packed is None else self._unpacked(packed)

    def __setitem__(self, key: Key, incident: Incident) -> None:
        """Keep it, and pack the one that has been closed for longest."""
        self._packed.pop(key, None)
        self._closed.pop(key, None)
        super().__setitem__(key, incident)
        if not incident.status.is_open:
            self._closed[key] = None
        if len(self._closed) > LATELY_CLOSED:
            self._pack(next(iter(self._closed)))

    def _pack(self, key: Key) -> None:
        self._closed.pop(key)
        packed = zlib.compress(super().pop(key).to_json().encode(), 1)
        self._file.seek(self._end)
        self._file.write(packed)
        self._packed[key] = self._end << _LENGTH_BITS | len(packed)
        self._end += len(packed)

    def _unpacked(self, packed: int) -> Incident:
        self._file.seek(packed >> _LENGTH_BITS)
        return Incident.model_validate_json(zlib.decompress(self._file.read(packed & (1 << _LENGTH_BITS) - 1)))

    def __iter__(self) -> Iterator[Key]:
        """Return all keys."""
        return iter([*super().__iter__(), *self._packed])

    def __len__(self) -> int:
        """Return how many there are."""
        return super().__len__() + len(self._packed)

    def everyone(self) -> Iterator[Incident]:
        """Yield each, one at a time."""
        return (self[key] for key in self)


def _with_any(found: Mapping[str, Mapping[str, object]]) -> Iterator[str]:
    return (cluster for cluster, ones in found.items() if ones)


class ReplayStore(MemoryStore):
    """See `CoordinationStore`. ``at_work`` is how many incidents run."""

    def __init__(self) -> None:
        """Start with nothing."""
        super().__init__()
        self._shelf = Shelf()
        self._incidents = self._shelf
        self._running: dict[str, dict[str, Incident]] = {}
        self._open: dict[str, dict[str, Incident]] = {}  # running ones and parked ones
        self._denied: dict[str, dict[str, datetime]] = {}  # what was recorded for a no, and when it changed last
        self.at_work = 0

    def find(self, cluster: str, incident: str) -> Incident | None:
        """Return the incident as it stands."""
        found: Incident | None = self._shelf.get((cluster, incident))
        return found

    @property
    def rests(self) -> bool:
        """Whether a sweep would look at nothing."""
        return not self.at_work and not any(self._denied.values())

    @property
    def looked_at(self) -> list[str]:
        """The clusters in which an incident is at work, or a no may end that something was recorded for."""
        return sorted({*_with_any(self._running), *_with_any(self._denied)})

    def list_running(self, cluster: str) -> tuple[str, ...]:
        """See the port: the same answer, without a look at all that is closed."""
        mine = self._running.get(cluster, {}).values()
        return tuple(each.id for each in sorted(mine, key=lambda each: (each.updated_at, each.id)))

    def list_denied(self, cluster: str, since: datetime) -> tuple[str, ...]:
        """See the port: the same answer, without a look at all that is closed."""
        mine = self._denied.get(cluster, {})
        for gone in [each for each, at in mine.items() if at <= since]:
            del mine[gone]  # time goes one way
        return tuple(sorted(mine))

    def list_open(self, cluster: str, jobs: Collection[str]) -> tuple[str, ...]:
        """See the port: the same answer, without a look at all that is closed."""
        mine = self._open.get(cluster, {}).values()
        return tuple(sorted(each.id for each in mine if each.job and each.job.id in jobs))

    def write(self, change: AnyChange) -> None:
        """See the port."""
        super().write(change)
        if isinstance(change.after, Incident):
            self._note(change.after)

    def _note(self, incident: Incident) -> None:
        still = self._open.setdefault(incident.cluster, {})
        if incident.status.is_open:
            still[incident.id] = incident
        else:
            still.pop(incident.id, None)
        if is_recorded_for_a_no(incident):
            self._denied.setdefault(incident.cluster, {})[incident.id] = incident.updated_at
        mine = self._running.setdefault(incident.cluster, {})
        before = len(mine)
        if incident.status.is_running:
            mine[incident.id] = incident
        else:
            mine.pop(incident.id, None)
        self.at_work += len(mine) - before

    def write_lines(self, incident: Incident) -> None:
        """The timeline stands in the incident itself."""

    def everyone(self) -> Iterator[Incident]:
        """Yield every incident, one at a time."""
        return self._shelf.everyone()

    def documents(self) -> Iterator[tuple[str, Key, str]]:
        """Yield every document: its kind, its key and its JSON."""
        for name in KINDS:
            kept: Mapping[Key, Model] = getattr(self, name)
            yield from ((name, key, kept[key].to_json()) for key in kept)

    def restore(self, kind: str, key: Key, text: str) -> None:
        """Take back a document that `documents` gave."""
        document = KINDS[kind].model_validate_json(text)
        getattr(self, kind)[key] = document
        if isinstance(document, Incident):
            self._note(document)

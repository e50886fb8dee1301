"""The policies table in memory, for guard and readers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from functions.ports.calls import Call
from functions.ports.policies import BrokenItemError, EditedMeanwhileError, Head, Heading, Seen
from functions.twins.calls import MemoryCalls
from policies.contract.identifiers import stable_id
from policies.documents import BOOKKEEPING, fingerprint


class MemoryPolicies:
    """``live_items`` is what operators edit; ``kept`` maps (name, revision) to what was accepted.

    ``broken`` maps the name of a head that somebody broke by hand to what stands there instead.
    """

    def __init__(self) -> None:
        """Start with an empty table."""
        self.live_items: dict[str, dict[str, Any]] = {}
        self.in_force: dict[str, Head] = {}
        self.kept: dict[tuple[str, int], Head] = {}
        self.listing: dict[str, Heading] = {}
        self.broken: dict[str, object] = {}
        self.noted = MemoryCalls()

    def headings(self) -> Sequence[Heading]:
        """See the port."""
        return list(self.listing.values())

    def names_of_heads(self) -> Sequence[str]:
        """See the port."""
        return sorted({*self.in_force, *self.broken})

    def head(self, name: str) -> Head | None:
        """See the port."""
        if name in self.broken:
            raise BrokenItemError(f"the head of {name} was changed by hand.", found=self.broken[name])
        return self.in_force.get(name)

    def heads(self, names: Sequence[str]) -> Mapping[str, Head]:
        """See the port."""
        return {name: self.in_force[name] for name in names if name in self.in_force and name not in self.broken}

    def live(self, name: str) -> Mapping[str, Any] | None:
        """See the port."""
        item = self.live_items.get(name)
        return None if item is None else dict(item)

    def lives(self, names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        """See the port."""
        yield from (dict(self.live_items[name]) for name in names if name in self.live_items)

    def names_in(self, part: int, parts: int) -> Iterator[Sequence[str]]:
        """See the port: one at a time."""
        yield from ([name] for name in sorted(self.live_items) if int(stable_id("part", name), 16) % parts == part)

    def put_live(self, item: Mapping[str, Any]) -> None:
        """Write a whole item, as a person would."""
        self.live_items[item["name"]] = {**item, "sk": "live"}

    def put_revision(self, head: Head) -> Head:
        """See the port."""
        there = self.kept.setdefault((head.name, head.revision), head)
        if not there.is_same(head):
            raise EditedMeanwhileError(f"revision {head.revision} of {head.name} is another one.")
        return there

    def put_head(self, head: Head, *, after: int) -> None:
        """See the port."""
        there = self.in_force.get(head.name)
        if head.name in self.broken or (there.revision if there else 0) != after:
            raise EditedMeanwhileError(f"the head of {head.name} is no longer revision {after}.")
        self.in_force[head.name] = head

    def list_head(self, head: Head) -> None:
        """See the port."""
        self.list_anew()
        there = self.listing.get(head.name)
        if there is None or there.revision <= head.revision:
            self.listing[head.name] = head.heading

    def list_anew(self) -> Sequence[Heading]:
        """See the port."""
        if not self.listing:
            broken = {name: Heading.unreadable(name) for name in self.broken}
            self.listing.update({**{name: head.heading for name, head in self.in_force.items()}, **broken})
        return self.headings()

    def heading(self, name: str) -> Heading | None:
        """See the port."""
        there = self.listing.get(name)
        if there and not there.is_readable:
            raise BrokenItemError(f"the line of {name} was changed by hand.")
        return there

    def revision(self, name: str, number: int) -> Head | None:
        """See the port."""
        return self.kept.get((name, number))

    def revisions(self, name: str) -> Sequence[Head]:
        """See the port."""
        return [self.kept[key] for key in sorted(self.kept, reverse=True) if key[0] == name]

    def names(self) -> Sequence[str]:
        """See the port."""
        return sorted(self.live_items)

    def calls_of(self, name: str) -> Sequence[Call]:
        """See the port."""
        return self.noted.of(name)

    def restore(self, head: Head, seen: Seen) -> None:
        """See the port."""
        there, line = self.broken.get(head.name, self.in_force.get(head.name)), self.listing.get(head.name)
        listed = None if isinstance(seen.line, BrokenItemError) else seen.line
        if there != (seen.head.found if isinstance(seen.head, BrokenItemError) else seen.head) or listed != (
            line if line and line.is_readable else None
        ):
            raise EditedMeanwhileError(f"{head.name} was put right, or in force, by another guard meanwhile.")
        self.broken.pop(head.name, None)
        self.kept[head.name, head.revision] = self.in_force[head.name] = head
        self.list_anew()
        self.listing[head.name] = head.heading

    def replace_live(self, seen: Mapping[str, Any] | None, item: Mapping[str, Any]) -> None:
        """See the port."""
        there = self.live_items.get(item["name"])
        if (there is None) != (seen is None) or (there and seen and _own(there) != _own(seen)):
            if there is not None and _unjudged(there) == _unjudged(item):
                return
            raise EditedMeanwhileError(f"{item['name']} was edited meanwhile.")
        self.put_live(item)

    def verdict(self, live: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """See the port."""
        there = live.get("verdict")
        return there if isinstance(there, Mapping) and there.get("hash") == fingerprint(live) else None

    def forget_answer(self, name: str) -> None:
        """See the port: here every answer has room."""

    def answer(self, name: str, seen: Mapping[str, Any], verdict: Mapping[str, Any]) -> None:
        """See the port."""
        item = self.live_items.get(name)
        if item is None or _own(item) != _own(seen):
            raise EditedMeanwhileError(f"{name} was edited meanwhile.")
        item["verdict"] = dict(verdict)


def _unjudged(item: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key not in {"sk", "verdict"}}


def _own(item: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key not in BOOKKEEPING}

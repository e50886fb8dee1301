"""The policies table in memory, for guard and readers."""

from collections.abc import Mapping, Sequence
from typing import Any

from functions.ports.policies import EditedMeanwhileError, Head, Heading
from policies.documents import BOOKKEEPING


class MemoryPolicies:
    """``live_items`` is what operators edit; ``revisions`` maps (name, revision) to what was accepted."""

    def __init__(self) -> None:
        """Start with an empty table."""
        self.live_items: dict[str, dict[str, Any]] = {}
        self.in_force: dict[str, Head] = {}
        self.revisions: dict[tuple[str, int], Head] = {}
        self.listing: dict[str, Heading] = {}

    def headings(self) -> Sequence[Heading]:
        """See the port."""
        return list(self.listing.values())

    def head(self, name: str) -> Head | None:
        """See the port."""
        return self.in_force.get(name)

    def heads(self, names: Sequence[str]) -> Mapping[str, Head]:
        """See the port."""
        return {name: self.in_force[name] for name in names if name in self.in_force}

    def live(self, name: str) -> Mapping[str, Any] | None:
        """See the port."""
        item = self.live_items.get(name)
        return None if item is None else dict(item)

    def put_live(self, item: Mapping[str, Any]) -> None:
        """Write a whole item, as a person would."""
        self.live_items[item["name"]] = {**item, "sk": "live"}

    def put_revision(self, head: Head) -> None:
        """See the port."""
        if self.revisions.setdefault((head.name, head.revision), head) != head:
            raise EditedMeanwhileError(f"revision {head.revision} of {head.name} is another one.")

    def put_head(self, head: Head, *, after: int) -> None:
        """See the port."""
        there = self.in_force.get(head.name)
        if (there.revision if there else 0) != after:
            raise EditedMeanwhileError(f"the head of {head.name} is no longer revision {after}.")
        self.in_force[head.name] = head

    def list_head(self, head: Head) -> None:
        """See the port."""
        there = self.listing.get(head.name)
        if there is None or there.revision <= head.revision:
            self.listing[head.name] = Heading(head.name, head.revision, head.hash, head.mode)

    def answer(self, name: str, seen: Mapping[str, Any], verdict: Mapping[str, Any]) -> None:
        """See the port."""
        item = self.live_items.get(name)
        if item is None or _own(item) != _own(seen):
            raise EditedMeanwhileError(f"{name} was edited meanwhile.")
        item["verdict"] = dict(verdict)


def _own(item: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in item.items() if key not in BOOKKEEPING}

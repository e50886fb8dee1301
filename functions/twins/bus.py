"""The bus in memory."""

from collections.abc import Sequence

from functions.ports.bus import Announcement
from policies.contract.errors import DependencyError


class MemoryBus:
    """``told`` is what was accepted, in order. Ids in ``refusing`` are refused as often as the number says."""

    def __init__(self) -> None:
        """Start empty and well."""
        self.told: list[Announcement] = []
        self.refusing: dict[str, int] = {}
        self.failing = False

    def put(self, announcements: Sequence[Announcement]) -> Sequence[Announcement]:
        """See the port."""
        if self.failing:
            raise DependencyError("the bus does not answer.")
        refused = [each for each in announcements if self._refuses(each.id)]
        self.told.extend(each for each in announcements if each not in refused)
        return refused

    def _refuses(self, identifier: str) -> bool:
        left = self.refusing.get(identifier, 0)
        self.refusing[identifier] = max(left - 1, 0)
        return left > 0

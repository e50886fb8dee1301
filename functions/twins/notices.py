"""Notices in memory."""

from functions.ports.notices import Notice


class MemoryNotices:
    """``told`` is what was told, by id, in order."""

    def __init__(self) -> None:
        """Start with none."""
        self.told: dict[str, Notice] = {}

    def tell(self, notice: Notice) -> None:
        """See the port."""
        self.told.setdefault(notice.id, notice)

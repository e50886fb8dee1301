"""Calls that wrote policies, in memory."""

from collections.abc import Sequence

from functions.ports.calls import ANY, Call


class MemoryCalls:
    """``kept`` is by policy and id."""

    def __init__(self) -> None:
        """Start with none."""
        self.kept: dict[tuple[str, str, str], Call] = {}

    def keep(self, call: Call) -> None:
        """See the port."""
        self.kept[call.policy, call.id, call.item] = call

    def of(self, policy: str) -> Sequence[Call]:
        """See the port."""
        found = [call for call in self.kept.values() if call.policy in {policy, ANY}]
        return sorted(found, key=lambda call: (call.at, call.id, call.item))

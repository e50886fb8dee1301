"""The switches of a policies table in memory."""

from collections.abc import Collection

from functions.twins.policies import MemoryPolicies
from policies.coordination.switches import EVERYTHING, Switches, stop_of


class MemorySwitches:
    """Reads what *policies* holds at that moment."""

    def __init__(self, policies: MemoryPolicies) -> None:
        """Take the table."""
        self._policies = policies

    def read(self, policies: Collection[str]) -> Switches:
        """See the port."""
        heads = (self._policies.head(name) for name in policies)
        return Switches(
            modes={head.name: head.mode for head in heads if head}, stop=stop_of(self._policies.live(EVERYTHING))
        )

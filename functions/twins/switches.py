"""The switches of a policies table in memory."""

from collections.abc import Collection

from functions.twins.policies import MemoryPolicies
from policies.coordination.snapshot import ConflictError
from policies.coordination.switches import EVERYTHING, SelfShadow, Switches, stop_of


class MemorySwitches:
    """Reads what *policies* holds at that moment; ``shadows`` are who put themselves in shadow."""

    def __init__(self, policies: MemoryPolicies) -> None:
        """Take the table."""
        self._policies = policies
        self.shadows: dict[str, SelfShadow] = {}

    def read(self, policies: Collection[str]) -> Switches:
        """See the port."""
        heads = [head for head in map(self._policies.head, policies) if head]
        return Switches(
            modes={head.name: head.mode for head in heads},
            revisions={head.name: head.revision for head in heads},
            stop=stop_of(self._policies.live(EVERYTHING)),
            shadows={name: self.shadows[name] for name in policies if name in self.shadows},
        )

    def put_in_shadow(self, shadow: SelfShadow) -> None:
        """See the port."""
        there = self.shadows.get(shadow.policy)
        if (there.version if there else 0) != shadow.version - 1:
            raise ConflictError(f"the shadow of {shadow.policy} changed meanwhile.", hint="Read again.")
        self.shadows[shadow.policy] = shadow

"""The faults lane in memory."""

from collections.abc import Sequence

from policies.contract.envelope import Envelope
from policies.contract.errors import DependencyError


class MemoryFaultsLane:
    """``accepted`` are the envelopes in order; while ``failing`` is set nothing is accepted."""

    def __init__(self) -> None:
        """Start empty and well."""
        self.accepted: list[Envelope] = []
        self.failing = False

    def put(self, envelopes: Sequence[Envelope]) -> None:
        """See the port."""
        if self.failing:
            raise DependencyError("the faults lane refuses.")
        self.accepted.extend(envelopes)

"""The `faults` lane: envelopes from inside AWS (intake, the sweep's canary) take the same way as an agent's.

It must not know Kinesis. The twin is `functions/twins/faults.py`.
"""

from collections.abc import Sequence
from typing import Protocol

from policies.contract.envelope import Envelope


class FaultsLane(Protocol):
    """Failures raise DependencyError; then some of the envelopes may have been accepted, and all may be put again."""

    def put(self, envelopes: Sequence[Envelope]) -> None:
        """Put *envelopes*; those of one node keep their order."""
        ...

"""The sweep's way to coordinate: the decisions queue, one group a cluster.

It must not know SQS. The twin is `functions/twins/sweeps.py`.
"""

from typing import Protocol

from policies.contract.decisions import SweepMessage


class Sweeps(Protocol):
    """Failures raise DependencyError; the message may have arrived all the same, and may be sent again."""

    def send(self, message: SweepMessage) -> None:
        """Send *message* to the group of its cluster, under its deduplication id."""
        ...

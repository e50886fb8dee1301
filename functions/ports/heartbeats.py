"""When a node's agent was last heard, and when the sweep's canaries came through.

It must not know how triage packs the times. The twins are `functions/twins/heartbeats.py` and `MemorySeen`.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from functions.ports.triage import Heard
from policies.contract.envelope import CANARY_NODE


def name_of_canary(instance_id: str) -> str:
    """Return the name under which a canary is noted that took the way of this instance's envelopes.

    The canary of a cluster as a whole has the instance id `CANARY_NODE`, and is noted under that.
    """
    return CANARY_NODE if instance_id == CANARY_NODE else f"{CANARY_NODE}/{instance_id}"


def is_canary(name: str) -> bool:
    """Whether this is the name of a canary, not an instance id."""
    return name.partition("/")[0] == CANARY_NODE


class Heartbeats(Protocol):
    """Failures raise DependencyError."""

    def last_seen(self, cluster: str, instance_id: str) -> datetime | None:
        """Return when the last envelope of this node arrived, to the minute or better; None when none did."""
        ...


class SignsOfLife(Protocol):
    """All of a cluster at once. Failures raise DependencyError."""

    def everyone(self, cluster: str) -> Mapping[str, Heard]:
        """Return the newest sign of every node (by instance id) and canary (by its name) of today and yesterday."""
        ...

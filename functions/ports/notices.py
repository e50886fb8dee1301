"""What people are to hear of that is no incident: an edit that was refused, a policy that was turned off by a deletion.

A notice is kept as an item whose table's stream tells the bus, as incidents are: nobody but the outbox talks to it. It
must not know DynamoDB. The twin is `functions/twins/notices.py`.
"""

from typing import Any, Literal, Protocol

from policies.contract.base import Model
from policies.contract.times import Moment

NoticeKind = Literal["rejected", "deleted", "mended", "stopped", "started", "reported", "edited"]


class Notice(Model):
    """One thing to tell. ``id`` is the same whenever the same thing is told again.

    ``by`` is who did it, as far as it is known; ``detail`` is for programs.
    """

    id: str
    kind: NoticeKind
    policy: str
    at: Moment
    by: str
    text: str
    detail: dict[str, Any] = {}


class Notices(Protocol):
    """Where they are kept. Failures raise DependencyError."""

    def tell(self, notice: Notice) -> None:
        """Keep *notice* unless one of its id is there: it is told once, however often this is called."""
        ...

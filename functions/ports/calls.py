"""Calls to AWS that wrote policies, as CloudTrail saw them: who it was, when, how. Kept beside the policies for ever.

It must not know DynamoDB or CloudTrail's form. The twin is `functions/twins/calls.py`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

ANY = "*"
"""The policy of a call that does not say which item it wrote: it may have been any."""

Way = Literal["command", "console", "other"]


@dataclass(frozen=True)
class Call:
    """One call that wrote an item of *policy*: ``item`` is its sort key (`live`), "" where the call does not say.

    ``id`` is CloudTrail's: the rest, such as the address it came from, stands under it in the trail. ``by`` is a name
    for people; ``at`` is in whole seconds; ``action`` is the API's word (`PutItem`).
    """

    id: str
    at: datetime
    policy: str
    item: str
    by: str
    action: str
    way: Way


class Calls(Protocol):
    """Where they are kept. Failures raise DependencyError."""

    def keep(self, call: Call) -> None:
        """Keep *call*; the same again changes nothing."""
        ...

    def of(self, policy: str) -> Sequence[Call]:
        """Return the calls that wrote items of *policy* and those that may have (`ANY`), oldest first."""
        ...

"""Whose call a revision was: what CloudTrail saw, held against when the stream says the item was written. Pure.

The two tell of the same write and share no id, only item and time, each in whole seconds by its own clock. So all who
wrote the item in that time are told, never one of them picked. Facts are only added, and this reads all of them: the
order in which they came, and how often, changes nothing.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from functions.ports.calls import ANY, Call
from functions.ports.policies import UNKNOWN, Head
from policies.contract.times import parse_time

# The stream's time is "approximate" and rounded down, CloudTrail's is when the call was completed, by the clock of the
# host that took it (StreamRecord in the DynamoDB API reference; CloudTrail user guide, "record contents"). Neither says
# how far it may be off; AWS's hosts are kept by NTP.
APART = timedelta(seconds=2)
_EARLIEST = datetime(2006, 1, 1, tzinfo=UTC)  # before there was any AWS to call


@dataclass(frozen=True)
class Whose:
    """Whose call a revision was: one of ``names`` (sorted; empty: nobody knows).

    ``sure`` is False where no call says that it wrote this very item. ``agrees`` is whether the name that the edit
    gave itself is one of them, None where there is nothing to compare.
    """

    names: tuple[str, ...] = ()
    sure: bool = True
    agrees: bool | None = None

    def __str__(self) -> str:
        """Return it in words, "" where nobody knows."""
        told = self.names[0] if len(self.names) == 1 else f"one of {', '.join(self.names)}" if self.names else ""
        return told if self.sure or not told else f"perhaps {told}"


def whose(revision: Head, before: Head | None, calls: Collection[Call]) -> Whose:
    """Return whose call made *revision*, which followed *before* (None: nothing was before)."""
    found = _within(revision, before, calls)
    names = tuple(sorted({call.by for call in found}))
    claimed = revision.edit.by
    agrees = None if claimed == UNKNOWN or not names else any(_is(claimed, name) for name in names)
    return Whose(names, sure=any(call.policy != ANY for call in found) or not found, agrees=agrees)


def unmatched(revisions: Sequence[Head], followed: Mapping[int, Head | None], calls: Collection[Call]) -> list[Call]:
    """Return the calls that made none of *revisions*, oldest first: refused, without effect, or not at a person's item.

    A call that does not say which item it wrote is none: it may have been any other's.
    """
    made = {call for each in revisions for call in _within(each, followed.get(each.revision), calls)}
    left = [call for call in calls if call not in made and call.policy != ANY]
    return sorted(left, key=lambda call: (call.at, call.id, call.item))


def _within(revision: Head, before: Head | None, calls: Collection[Call]) -> list[Call]:
    """Return the calls in the time that *revision* was written, by the stream; else since the one before came."""
    own = [call for call in calls if call.item in {"live", ""}]
    written = _written(revision)
    if written:
        return _between(*written, own)
    accepted = _moment(revision.edit.accepted_at)
    if accepted is None:
        return []  # nothing is known of its time: nobody is named
    began = _moment(before.edit.accepted_at) if before else None
    earlier = _written(before) if before else None
    made = _between(*earlier, own) if earlier else []
    found = _between(began or _EARLIEST, accepted, own)
    # The one call that made the revision before did not make this one as well.
    return [call for call in found if call not in made] if len(made) == 1 else found


def _between(begin: datetime, end: datetime, calls: Collection[Call]) -> list[Call]:
    return [call for call in calls if begin - APART <= call.at <= end + APART]


def _written(revision: Head) -> tuple[datetime, datetime] | None:
    first, last = _moment(revision.edit.written_from), _moment(revision.edit.written_until)
    return (first, last) if first and last else None


def _moment(text: str) -> datetime | None:
    try:
        return parse_time(text)
    except ValueError:
        return None


def _is(claimed: str, name: str) -> bool:
    """Whether who somebody said to be may be this caller: the name, or what of an address stands before its @."""
    login = name.partition(" (")[0].casefold()
    said = claimed.casefold()
    return said.partition("@")[0] == login.partition("@")[0] if "@" not in said or "@" not in login else said == login

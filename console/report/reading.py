"""What the report is made of: incidents and the policies in shadow, of a stack or of an archive.

Decides which policies are in shadow: by their mode, or since they put themselves there. It must not judge anything.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from console.policy.account import Account
from functions.ports.archive import ArchiveReader
from functions.report.shadowed import in_shadow
from policies.contract.archive import BadLine, Happening
from policies.contract.archive_names import INCIDENTS, POLICIES
from policies.contract.decisions import PolicyPlan
from policies.contract.errors import BadInputError
from policies.contract.vocabulary import PolicyMode
from policies.coordination.incident import Incident
from policies.loader import load_stored
from policies.model import Policy
from policies.moments import earlier, later
from policies.precision.signs import AGAIN_WITHIN
from policies.shadow.report import Report, report_of
from simulator.archive.days import usual_and_stray
from simulator.archive.period import read_happenings
from simulator.archive.reading import Told
from simulator.in_force import Revisions
from simulator.recorded import Recorded

_DAY, _MOMENT = timedelta(days=1), timedelta(microseconds=1)


@dataclass(frozen=True)
class Wish:
    """How many ``days`` back."""

    days: int


def of_stack(account: Account, wish: Wish) -> Report:
    """Return the report on a stack as it stands now."""
    until = account.clock()
    since = earlier(until, timedelta(days=wish.days))
    incidents: list[Incident] = []
    for cluster in account.clusters:
        incidents += [
            *account.incidents.open(cluster),
            *account.incidents.closed(cluster, earlier(since, AGAIN_WITHIN)),
        ]
    return report_of(incidents, in_shadow(account.heads, account.switches), since, until)


def of_archive(archive: ArchiveReader, wish: Wish, wrong: Told) -> Report:
    """Return the report on the last days that *archive* has, and on the policies as they stood when it ended.

    *wrong* hears of what cannot be read. BadInputError when there is nothing in it.
    """
    days, strays = usual_and_stray(archive)
    if not days:
        raise BadInputError("the archive is empty.", hint="Name the folder that holds incidents/ and policies/.")
    for day in strays:
        wrong.refuse(BadLine(f"{day}", 0, "it lies more than a year from the rest; nothing of it is in the report."))
    first, last = (datetime.combine(day, time.min, UTC) for day in (days[0], days[-1]))
    end = later(last, _DAY)
    since = earlier(end, timedelta(days=wish.days))
    told = list(read_happenings(archive, INCIDENTS, max(first, earlier(since, AGAIN_WITHIN)), end, wrong))
    until = later(max((each.at for each in told), default=end), _MOMENT)
    happened = list(read_happenings(archive, POLICIES, first, end, wrong))
    return report_of(list(Recorded.of(told).incidents()), _in_shadow(happened), since, until)


def _in_shadow(happened: Sequence[Happening]) -> Mapping[str, PolicyPlan]:
    by_themselves = _by_themselves(happened)
    found = {}
    for head in Revisions.of(happened).newest():
        loaded = load_stored(head.document)
        shadowed = head.mode is PolicyMode.SHADOW or head.name in by_themselves
        if isinstance(loaded, Policy) and head.mode is not PolicyMode.OFF and shadowed:
            found[head.name] = loaded.plan(head.revision)
    return found


def _by_themselves(happened: Iterable[Happening]) -> frozenset[str]:
    """Return the policies that put themselves in shadow, and are there still."""
    newest = {str(each.document.get("policy")): each for each in happened if each.what == "shadow"}
    return frozenset(name for name, each in newest.items() if not each.document.get("lifted_at"))

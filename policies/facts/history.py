"""What befell a node in 28 days: ``NODE#<instance>#history``, which coordinate writes, and the facts in it.

Decides what of the past counts as an incident, a repair and a stopped run. A node without a document had none of them
since its cluster has coordinate; before that nothing was counted. It must not know how an incident becomes an entry
(`policies/coordination/history.py` does).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from policies.contract.base import Model
from policies.contract.events import Scalar
from policies.contract.rungs import TAKES_OUT, Rung
from policies.contract.times import Moment
from policies.contract.vocabulary import RECORDED
from policies.facts.fact import About, Fact, FactDocument, FactType, of_instance
from policies.facts.lemons import lemon_score

WEEK, MONTH = timedelta(days=7), timedelta(days=28)
EPISODE = timedelta(hours=1)  # decisions that nobody acts on come with each window of a count; these are one incident


class Past(Model):
    """One incident. ``did`` are the rungs that were carried out, ``repaired_at`` is when the last repair was done.

    ``of_run``: it was about a run that this node told of. ``until`` is when the fault of one that was only recorded was
    found last, if it was found again.
    """

    incident: str
    policy: str
    fault: str
    at: Moment
    did: tuple[Rung, ...] = ()
    repaired_at: Moment | None = None
    job: str = ""
    outcome: str = ""
    of_run: bool = False
    until: Moment | None = None
    recorded: bool = (
        False  # what `is_recorded` says: 0.1.0 writes it for what ran before, and what follows may leave it
    )

    @property
    def is_recorded(self) -> bool:
        """Whether nobody acted, though the policy would."""
        return self.outcome == RECORDED


class History(Model):
    """The document: ``past`` is oldest first."""

    cluster: str
    instance: str
    version: int = 1
    past: tuple[Past, ...] = ()


def incidents_in(past: Sequence[Past]) -> list[Past]:
    """Return those of *past*, oldest first, that are the node's own; decisions of one episode are one incident."""
    found: list[Past] = []
    last: datetime | None = None
    for each in past:
        if each.of_run:
            continue
        if not (each.is_recorded and last and each.at - last < EPISODE):
            found.append(each)
        until = each.until or each.at
        last = max(until, last) if last else until
    return found


def _answer(document: History | None, about: About) -> Mapping[str, Scalar]:
    past = sorted(document.past if document else (), key=lambda each: (each.at, each.incident))
    month = [each for each in past if about.now - each.at <= MONTH]
    incidents = incidents_in(month)
    repairs = [each.repaired_at for each in month if each.repaired_at]
    facts: dict[str, Scalar] = {
        "node.incidents_7d": sum(about.now - each.at <= WEEK for each in incidents),
        "node.incidents_28d": len(incidents),
        "node.repairs_7d": sum(about.now - at <= WEEK for at in repairs),
        "node.jobs_stopped_28d": len({each.job for each in month if each.job and Rung.SUSPEND_JOB in each.did}),
        "node.lemon_score": lemon_score(
            taken_out=sum(bool(TAKES_OUT & set(each.did)) for each in incidents),
            stopped=sum(Rung.SUSPEND_JOB in each.did for each in incidents),
            faults=len({each.fault for each in incidents}),
            came_back=sum(_came_back(each, month) for each in incidents),
        ),
    }
    if repairs:
        facts["node.hours_since_repair"] = max(0.0, round((about.now - max(repairs)).total_seconds() / 3600, 2))
    return facts


def _came_back(incident: Past, past: Sequence[Past]) -> bool:
    """Whether another incident's repair had been done within the week before."""
    repairs = (each.repaired_at for each in past if each.repaired_at and each.incident != incident.incident)
    return any(timedelta() <= incident.at - at <= WEEK for at in repairs)


HISTORY = FactDocument(
    name="history",
    facts=(
        Fact("node.incidents_7d", FactType.WHOLE, "incidents of the node within 7 days, one under way among them"),
        Fact("node.incidents_28d", FactType.WHOLE, "the same within 28 days"),
        Fact("node.repairs_7d", FactType.WHOLE, "resets and restarts of services done on it within 7 days"),
        Fact("node.hours_since_repair", FactType.NUMBER, "since the last of them; not there after 28 days without"),
        Fact("node.jobs_stopped_28d", FactType.WHOLE, "different jobs stopped for what it told within 28 days"),
        Fact("node.lemon_score", FactType.WHOLE, "0 to 100: how much of a lemon its 28 days make it"),
    ),
    subject=of_instance,
    sort_key=lambda instance: f"NODE#{instance}#history",
    parse=History.model_validate_json,
    answer=_answer,
)

"""A week in which persons refuse, close and judge what others ask and do; what a policy in shadow is told of, by hand.

The policy in shadow sees a fault on each node, half an hour at least apart, and it would replace the node.

| node | what others did about the same fault | the case | real |
|---|---|---|---|
| n-1 | asking asks, a person says no | denied | not known |
| n-2 | the same; then a person: faulty | faulty | yes |
| n-3 | the same; then a person: healthy | healthy | no |
| n-4 | asking asks, a person closes it by hand | closed | not known |
| n-5 | isolating acts and parks, a person closes it by hand | closed | not known |
| n-6 | the same; then a person: healthy | healthy | no |
| n-7 | the same; then a person: faulty | faulty | yes |
| n-8 | replacing acts; proven successor, then silence | answered | yes |
| n-9 | replacing acts; its successor fails its check | answered | yes |
| n-10 | replacing acts; the same comes on n-10' five hours after | sound | no |
| n-11 | resetting acts; the GPU fails its check after it | answered | yes |
| n-12 | isolating acts, a check of the very node passes | sound | no |
| n-13 | the shadow joins the incident of isolating; a person: healthy | healthy | no |
| n-14 | replacing acts; a person: healthy, and takes it back; silence | answered | yes |
| n-15 | isolating acts on a cable; a person: faulty | silent | not known |
| n-16 | nobody did anything | away | no |
| n-17 | nobody; the same again six hours after, and then no more | again, twice | yes, twice |
| n-18 | asking asks, a person says no; the same again six hours after | denied, away | not known, no |
| n-19 | asking asks, a person says no for half a day; the same in between | denied, twice | not known, twice |

So: real 8, needless 7, not known 7. What is measured of those that act stands on the same verdicts: replacing 2 of 3
(n-8, n-14 presumed, n-10 not, n-9 unknown), resetting 1 of 1, isolating 2 of 4 (n-7, n-15 against n-6, n-13; n-5 and
n-12 unknown to coordinate), and asking touched nothing.
"""

from collections.abc import Sequence

import pytest

from console.policy.counting import count
from policies.contract.decisions import CloseMessage, PolicyPlan
from policies.contract.restraints import ApproveMessage, VerdictWord
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action, EvidenceRule, Kind, PolicyMode
from policies.coordination.incident import Incident
from policies.coordination.notes import Entry
from policies.precision.verdicts import Precision
from policies.shadow.cases import Ending
from policies.shadow.plain import as_document
from policies.shadow.report import Advice, PolicyReport, report_of
from policies.shadow.text import as_text
from tests.tools.incidents import CLUSTER, ask, at, plan, report
from tests.tools.judged import DAY, HOUR, ISOLATING, REPLACING, RESETTING, Judged

MINUTE = 60.0
WEEK = 7 * DAY
SHY = plan(
    Action.ISOLATE, Action.REPLACE_NODE, mode=PolicyMode.SHADOW, settle=60, evidence=EvidenceRule.TRANSIENT, name="shy"
)
ASKING = plan(Action.ISOLATE, Action.REPLACE_NODE, approval=True, settle=0, name="asking")
KNOWN: Sequence[tuple[str, tuple[Ending, ...]]] = (
    ("n-1", (Ending.DENIED,)),
    ("n-2", (Ending.FAULTY,)),
    ("n-3", (Ending.HEALTHY,)),
    ("n-4", (Ending.CLOSED,)),
    ("n-5", (Ending.CLOSED,)),
    ("n-6", (Ending.HEALTHY,)),
    ("n-7", (Ending.FAULTY,)),
    ("n-8", (Ending.ANSWERED,)),
    ("n-9", (Ending.ANSWERED,)),
    ("n-10", (Ending.SOUND,)),
    ("n-11", (Ending.ANSWERED,)),
    ("n-12", (Ending.SOUND,)),
    ("n-13", (Ending.HEALTHY,)),
    ("n-14", (Ending.ANSWERED,)),
    ("n-15", (Ending.SILENT,)),
    ("n-16", (Ending.AWAY,)),
    ("n-17", (Ending.AGAIN, Ending.AGAIN)),
    ("n-18", (Ending.DENIED, Ending.AWAY)),
    ("n-19", (Ending.DENIED, Ending.DENIED)),
)


class Week(Judged):
    """The shadow sees each fault first, so that what it finds is recorded beside the incident that acts."""

    def seen(self, node: str, hours: float) -> float:
        """Have the policy in shadow find the fault; return when others do, a minute later."""
        self.found(node, hours * HOUR, SHY)
        return hours * HOUR + MINUTE

    def asked(self, node: str, hours: float) -> Incident:
        """Have asking wait for an answer on *node*."""
        seconds = self.seen(node, hours)
        incident = self.found(node, seconds, ASKING)
        self.take(seconds + MINUTE, ask(incident.id))
        return self.again(incident)

    def deny(self, incident: Incident, hours: float, ahead: float | None = None) -> None:
        told = ApproveMessage(
            cluster=CLUSTER,
            incident=incident.id,
            by="root",
            reason="a firmware test",
            approved=False,
            for_seconds=ahead,
        )
        self.take(hours * HOUR, told.model_copy(update={"at": at(hours * HOUR), "seen": incident.version}))

    def close(self, incident: Incident, hours: float) -> None:
        self.take(hours * HOUR, CloseMessage(cluster=CLUSTER, incident=incident.id, by="root", reason="seen to"))

    def parked(self, node: str, hours: float) -> Incident:
        """Have isolating act on *node* and park."""
        return self.acted(node, self.seen(node, hours), ISOLATING)

    def again(self, incident: Incident) -> Incident:
        return next(each for each in self.incidents if each.id == incident.id)


def proven_before_anything_was_done(incident: Incident) -> Incident:
    """Return *incident* as it is where a check of the isolated node itself passes."""
    entry = Entry(number=len(incident.timeline) + 1, version=0, stage="node_verified", at=incident.updated_at)
    return incident.model_copy(
        update={"done": (Rung.ISOLATE, Rung.VERIFY_NODE), "timeline": (*incident.timeline, entry)}
    )


def persons_say(told: Week) -> None:
    told.deny(told.asked("n-1", 1), 1.5)
    judged: Sequence[tuple[str, int, VerdictWord]] = (("n-2", 2, "faulty"), ("n-3", 3, "healthy"))
    for node, hours, word in judged:
        asked = told.asked(node, hours)
        told.deny(asked, hours + 0.5)
        told.say(asked, word, (hours + 2) * HOUR)
    told.close(told.asked("n-4", 4), 5)
    told.close(told.parked("n-5", 5), 6)
    closed: Sequence[tuple[str, int, VerdictWord]] = (("n-6", 6, "healthy"), ("n-7", 7, "faulty"))
    for node, hours, word in closed:
        parked = told.parked(node, hours)
        told.close(parked, hours + 1)
        told.say(parked, word, (hours + 2) * HOUR)


def others_act(told: Week) -> None:
    told.acted("n-8", told.seen("n-8", 26), REPLACING)
    told.acted("n-9", told.seen("n-9", 27), REPLACING, verified=False)
    told.acted("n-10", told.seen("n-10", 28), REPLACING)
    told.found("n-10'", 33 * HOUR, REPLACING)
    told.acted("n-11", told.seen("n-11", 34), RESETTING, verified=False)
    told.parked("n-12", 35)
    told.found("n-13", 36 * HOUR, ISOLATING)
    told.found("n-13", 36 * HOUR + MINUTE, SHY)
    told.take(36 * HOUR + 2 * MINUTE, ask(told.newest("n-13").id))
    told.acted("n-13", 36 * HOUR + 3 * MINUTE, ISOLATING)
    told.say(told.newest("n-13"), "healthy", 40 * HOUR)
    taken_back = told.acted("n-14", told.seen("n-14", 37), REPLACING)
    told.say(taken_back, "healthy", 40 * HOUR)
    told.say(taken_back, "unknown", 41 * HOUR)
    seconds = told.seen("n-15", 38)
    cable = told.found("n-15", seconds, ISOLATING, kind=Kind.NETWORK_LINK_DOWN)
    told.take(seconds, ask(cable.id))
    told.take(seconds + MINUTE, ask(cable.id, 1, report=report(Rung.ISOLATE, when=at(seconds + MINUTE))))
    told.say(cable, "faulty", 41 * HOUR)


def nobody_acts(told: Week) -> None:
    told.seen("n-16", 50)
    told.seen("n-17", 51)
    told.deny(told.asked("n-18", 52), 52.5, 0)
    told.deny(told.asked("n-19", 53), 53.5, 43_200)
    told.seen("n-17", 57)
    told.seen("n-18", 58)
    told.seen("n-19", 59)


@pytest.fixture(scope="module")
def week() -> Week:
    told = Week()
    persons_say(told)
    others_act(told)
    nobody_acts(told)
    return told


def stories(week: Week) -> list[Incident]:
    return [
        proven_before_anything_was_done(each)
        if each.node.instance_id == "n-12" and each.policy.name == "isolating"
        else each
        for each in week.incidents
    ]


def told_of(incidents: Sequence[Incident], policy: PolicyPlan = SHY) -> PolicyReport:
    (one,) = report_of(incidents, {policy.name: policy}, at(0), at(WEEK)).policies
    return one


def test_each_case_ends_as_was_counted(week: Week) -> None:
    cases = told_of(stories(week)).cases
    found = [(name, tuple(case.ending for case in cases if case.instance == name)) for name, _ in KNOWN]
    assert found == list(KNOWN)
    assert len(cases) == sum(len(endings) for _, endings in KNOWN)


def test_the_figures_are_what_was_counted(week: Week) -> None:
    one = told_of(stories(week))
    assert (one.real, one.needless, len(one.cases) - one.real - one.needless) == (8, 7, 7)
    assert one.advice is Advice.MEND


def test_measured_precision_stands_on_the_same_verdicts(week: Week) -> None:
    assert [week.precision(each, WEEK) for each in (REPLACING, RESETTING, ASKING)] == [
        Precision(acts=4, faulty=2, healthy=1, presumed=2),
        Precision(acts=1, faulty=1),
        Precision(),
    ]
    listed = count(week.store, [CLUSTER], ["replacing", "isolating", "asking"], at(WEEK))
    assert listed.columns("replacing").split() == ["4", "0.67", "3", "(2?)", "0"]
    assert listed.columns("asking").split() == ["-", "-", "-", "-"]
    assert listed.of("isolating")["precision"]["judged"] == 4
    assert listed.of("isolating")["precision"]["precision"] == 0.5


def test_a_no_and_a_close_by_hand_are_told_beside_the_case(week: Week) -> None:
    whole = report_of(stories(week), {SHY.name: SHY}, at(0), at(WEEK))
    (told,) = as_document(whole)["policies"]
    beside = {case["instance"]: case["beside"] for case in told["cases"]}
    assert [(each["person"], each["denied"]) for each in beside["n-1"]] == [("root", True)]
    assert [(each["person"], each["denied"], each["done"]) for each in beside["n-5"]] == [("root", False, ["isolate"])]
    assert "root denied it" in as_text(whole)


def test_the_order_of_incidents_does_not_matter(week: Week) -> None:
    forth, back = stories(week), list(reversed(stories(week)))
    assert told_of(forth) == told_of(back)

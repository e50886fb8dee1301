"""What was only recorded, however long, takes nothing from the first finding that somebody may act on."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from policies.contract.decisions import CloseMessage, Finding, Limit, PolicyPlan
from policies.contract.restraints import ApproveMessage, Hours
from policies.contract.vocabulary import Action, PolicyMode
from policies.coordination.incident import Incident
from policies.coordination.repeats import MOST_COUNTED
from policies.coordination.snapshot import Keys
from policies.coordination.states import IncidentStatus
from policies.coordination.switches import ALL_ACTIVE, SelfShadow, Switches
from policies.facts.maintenance import Maintenance
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, POLICY, ask, at, finding, findings, plan
from tests.tools.wide import contributed, contribution, wide_rule

MINUTE = 60.0
FREED = 120  # the minute from which on it may act
ACTIVE, SHADOW = plan(), plan(mode=PolicyMode.SHADOW)
FROM_NOON = Hours(only=("Sun 12:00-20:00",))  # all begins on a Sunday at 10:00 UTC
SELF_SHADOW = SelfShadow(policy=POLICY, cluster=CLUSTER, incident="too-many", since=at(0), why="it acted too often")


def found(number: int, policy: PolicyPlan) -> Finding:
    name = f"{policy.revision}-{policy.mode}-{number}"
    return finding(name=name, policy=policy, seen=at(number * MINUTE))


def switched(switches: Switches) -> Callable[[DecisionTable, bool], PolicyPlan]:
    def hold(table: DecisionTable, held: bool) -> PolicyPlan:
        table.switches = switches if held else ALL_ACTIVE
        return ACTIVE

    return hold


def maintained(table: DecisionTable, held: bool) -> PolicyPlan:
    table.maintenance = {"i-1": Maintenance(until=at(1e7), by="ada")} if held else {}
    return ACTIVE


def maintained_until_then(table: DecisionTable, held: bool) -> PolicyPlan:
    del held
    table.maintenance = {"i-1": Maintenance(until=at(FREED * MINUTE), by="ada")}
    return ACTIVE


def armed(table: DecisionTable, held: bool) -> PolicyPlan:
    del table
    return SHADOW if held else ACTIVE.model_copy(update={"revision": 4})


def armed_under_the_same_revision(table: DecisionTable, held: bool) -> PolicyPlan:
    del table
    return SHADOW if held else ACTIVE


def scheduled(table: DecisionTable, held: bool) -> PolicyPlan:
    del table, held
    return plan(schedule=FROM_NOON)


def built(table: DecisionTable, held: bool) -> PolicyPlan:
    """An edit: what nobody carries out yet is wanted no more."""
    del table
    return plan(Action.ISOLATE, Action.DRAIN) if held else plan(Action.ISOLATE).model_copy(update={"revision": 4})


HOLDS: Mapping[str, Callable[[DecisionTable, bool], PolicyPlan]] = {
    "it is made active": armed,
    "it is made active and no revision says so": armed_under_the_same_revision,
    "the stop of everything is lifted": switched(replace(ALL_ACTIVE, stop="everything is stopped by ada")),
    "it is switched on": switched(Switches({POLICY: PolicyMode.OFF}, otherwise=PolicyMode.ACTIVE)),
    "its switch is set to active": switched(Switches({POLICY: PolicyMode.SHADOW}, otherwise=PolicyMode.ACTIVE)),
    "its self-shadow is lifted": switched(ALL_ACTIVE.with_shadow(SELF_SHADOW)),
    "the maintenance is ended": maintained,
    "the maintenance is over": maintained_until_then,
    "its hours begin": scheduled,
    "it is edited": built,
}


def of_status(table: DecisionTable, *statuses: IncidentStatus) -> list[Incident]:
    return [each for each in table.incidents if each.status in statuses]


@pytest.fixture
def table() -> DecisionTable:
    return DecisionTable()


@pytest.mark.parametrize("how", HOLDS)
@pytest.mark.parametrize("minutes", [1, 2, 40, FREED])
def test_once_it_may_act_the_very_next_finding_opens_an_incident(table: DecisionTable, how: str, minutes: int) -> None:
    for number in range(FREED - minutes, FREED):
        table.take(number * MINUTE + 1, findings(found(number, HOLDS[how](table, True))))
    assert [each.findings[0].times for each in table.incidents] == [minutes]
    recorded = table.incident
    decision = table.take(FREED * MINUTE + 1, findings(found(FREED, HOLDS[how](table, False))))
    (opened,) = of_status(table, IncidentStatus.SETTLING)
    assert [start.incident for start in decision.starts] == [opened.id]
    assert (opened.fence, opened.findings[0].times, opened.counted) == (1, 1, ())
    assert table.store.read(CLUSTER, _keys(recorded)).incidents[recorded.id] == recorded
    assert table.answer(FREED * MINUTE + 30, ask(opened.id)).verdict == "act"


@pytest.mark.parametrize("how", HOLDS)
def test_in_one_message_as_well(table: DecisionTable, how: str) -> None:
    for number in range(FREED - 40, FREED):
        table.take(number * MINUTE + 1, findings(found(number, HOLDS[how](table, True))))
    policy = HOLDS[how](table, False)
    table.take(FREED * MINUTE + 1, findings(*(found(FREED + number, policy) for number in range(-1, 3))))
    (opened,) = of_status(table, IncidentStatus.SETTLING)
    assert [note.times for note in opened.findings] == [1] * len(opened.findings)
    assert len(opened.findings) >= 3


def test_what_is_held_back_again_after_it_acted_is_an_incident_of_its_own(table: DecisionTable) -> None:
    table.take(1, findings(found(0, SHADOW)))
    table.take(61, findings(found(1, ACTIVE)))
    (opened,) = of_status(table, IncidentStatus.SETTLING)
    table.take(121, findings(found(2, SHADOW)))  # one more note of what is open
    assert table.store.read(CLUSTER, _keys(opened)).incidents[opened.id].findings[-1].times == 1
    assert len(table.incidents) == 2


def test_what_is_only_recorded_after_an_incident_is_counted_with_what_was_before_it(table: DecisionTable) -> None:
    table.take(1, findings(found(0, SHADOW)))
    recorded = table.incident
    table.take(61, findings(found(1, ACTIVE)))
    (opened,) = of_status(table, IncidentStatus.SETTLING)
    table.take(100, CloseMessage(cluster=CLUSTER, incident=opened.id, by="ada", reason="seen to"))
    table.take(121, findings(found(2, SHADOW)))
    assert table.store.read(CLUSTER, _keys(recorded)).incidents[recorded.id].findings[0].times == 2
    assert len(table.incidents) == 2
    assert len(table.take(181, findings(found(3, ACTIVE))).starts) == 1


def test_a_person_who_approves_is_asked_whatever_was_recorded_before(table: DecisionTable) -> None:
    asks = plan(approval=True)
    for number in range(60):
        table.take(number * MINUTE + 1, findings(found(number, plan(approval=True, mode=PolicyMode.SHADOW))))
    table.take(3601, findings(found(60, asks)))
    (opened,) = of_status(table, IncidentStatus.SETTLING)
    assert table.answer(3630, ask(opened.id)).verdict == "parked"
    table.take(3640, findings(found(61, plan(approval=True, mode=PolicyMode.SHADOW))))
    yes = ApproveMessage(cluster=CLUSTER, incident=opened.id, by="ada", reason="go on")
    table.take(3650, yes)
    assert table.answer(3660, ask(opened.id, attempt=2)).verdict == "act"


def test_a_limit_that_frees_lets_the_next_node_act_whatever_was_recorded_of_it(table: DecisionTable) -> None:
    limit = {"isolations": Limit(at_most=1, within_seconds=600)}
    limited = plan(Action.ISOLATE, limits=limit)
    for number in range(60):
        table.take(number * MINUTE + 1, findings(found(number, plan(Action.ISOLATE, mode=PolicyMode.SHADOW))))
    table.take(3590, findings(finding("i-2", policy=limited, seen=at(3590))))
    (other,) = of_status(table, IncidentStatus.SETTLING)
    assert table.answer(3611, ask(other.id)).verdict == "act"
    table.take(3615, findings(found(60, limited)))
    (mine,) = of_status(table, IncidentStatus.SETTLING)
    assert table.answer(3640, ask(mine.id)).verdict == "parked"  # as the limit is reached
    for name in (mine.id, other.id):
        table.take(3700, CloseMessage(cluster=CLUSTER, incident=name, by="ada", reason="seen to"))
    table.take(4801, findings(found(80, limited)))
    (again,) = of_status(table, IncidentStatus.SETTLING)
    assert table.answer(4830, ask(again.id)).verdict == "act"


def test_a_page_that_a_switch_held_back_is_told_as_soon_as_it_may_be(table: DecisionTable) -> None:
    pages = plan(Action.PAGE_OPERATOR)
    for number in range(30):
        table.switches = replace(ALL_ACTIVE, stop="everything is stopped by ada")
        table.take(number * MINUTE + 1, findings(found(number, pages)))
    assert [each.timeline[-1].alert for each in table.incidents] == ["notify"]
    table.switches = ALL_ACTIVE
    table.take(1801, findings(found(30, pages)))
    assert [each.timeline[-1].alert for each in table.incidents] == ["notify", "page"]


def test_a_storm_of_many_nodes_that_a_switch_held_back_pages_as_soon_as_it_may(table: DecisionTable) -> None:
    table.switches = replace(ALL_ACTIVE, stop="everything is stopped by ada")
    for seq in range(6):
        told = [contribution(f"i-{node}", seq * 600, seq=seq) for node in range(3)]
        table.take(seq * 600 + 1, contributed(*told))
    assert [each.findings[0].times for each in table.incidents] == [6]
    table.switches = ALL_ACTIVE
    table.take(3700, contributed(*(contribution(f"i-{node}", 3700, seq=9) for node in range(3)), rule=wide_rule()))
    assert [each.timeline[-1].alert for each in table.incidents] == ["notify", "page"]


def test_a_finding_that_was_counted_and_comes_again_once_it_may_act_is_no_news(table: DecisionTable) -> None:
    table.switches = replace(ALL_ACTIVE, stop="everything is stopped by ada")
    for number in range(5):
        table.take(number * MINUTE + 1, findings(found(number, ACTIVE)))
    table.switches = ALL_ACTIVE
    assert table.take(270, findings(found(0, ACTIVE), found(3, ACTIVE), found(4, ACTIVE))).starts == ()
    assert len(table.take(301, findings(found(5, ACTIVE))).starts) == 1


def test_many_more_than_are_known_by_name_hide_nothing(table: DecisionTable) -> None:
    """What is older than all that an incident remembers by name is in doubt, and in doubt it acts."""
    table.switches = replace(ALL_ACTIVE, stop="everything is stopped by ada")
    for number in range(50):
        one = found(0, ACTIVE).model_copy(update={"id": f"f{number}", "observed_at": at(100 + number)})
        table.take(101 + number, findings(one))
    table.switches = ALL_ACTIVE
    older = found(0, ACTIVE).model_copy(update={"id": "older", "observed_at": at(90)})
    assert len(table.take(200, findings(older)).starts) == 1


def test_the_run_of_many_nodes_is_stopped_once_its_policy_is_armed(table: DecisionTable) -> None:
    do = (Action.SUSPEND_JOB, Action.RESUME_JOB)
    for number in range(40):
        hung = finding(f"i-{number}", policy=plan(*do, mode=PolicyMode.SHADOW), seen=at(number))
        table.take(number + 1, findings(hung))
    decision = table.take(50, findings(finding("i-99", policy=plan(*do), seen=at(49))))
    assert len(decision.starts) == 1
    assert [each.generation for each in table.incidents] == ["run#train/llm"] * 2


def _keys(incident: Incident) -> Keys:
    return Keys(incidents=frozenset({incident.id}))


@pytest.mark.parametrize("count", [3, MOST_COUNTED, MOST_COUNTED + 2, 3 * MOST_COUNTED])
def test_what_was_held_and_comes_again_after_the_hold_starts_nothing(count: int) -> None:
    """A dead letter is sent again after hours, when the incident knows newer ones alone by name."""
    table = DecisionTable()
    maintained(table, held=True)
    for number in range(count):
        table.take(number * MINUTE + 1, findings(found(number, ACTIVE)))
    before = table.incident
    maintained(table, held=False)
    for number in range(count):
        decision = table.take(count * MINUTE, findings(found(number, ACTIVE)))
        assert (decision.starts, table.incident) == ((), before)


@pytest.mark.parametrize("plan_now", [ACTIVE.model_copy(update={"revision": 4}), SHADOW])
def test_of_another_revision_or_mode_nothing_old_is_taken_for_held(plan_now: PolicyPlan) -> None:
    table = DecisionTable()
    held = ACTIVE if plan_now is SHADOW else SHADOW
    maintained(table, held=held is ACTIVE)
    for number in range(2 * MOST_COUNTED):
        table.take(number * MINUTE + 1, findings(found(number, held)))
    before = table.incidents
    table.take(2 * MOST_COUNTED * MINUTE, findings(found(3, plan_now)))
    assert len(table.incidents) == len(before) + 1

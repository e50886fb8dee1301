"""What nobody acts on and is found again and again is one incident, which says how often and until when."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from policies.contract.decisions import Finding, PolicyPlan
from policies.contract.events import Component
from policies.contract.restraints import Hours
from policies.contract.vocabulary import Action, ComponentType, EvidenceRule, Kind, PolicyMode
from policies.coordination import leases
from policies.coordination.incident import Incident
from policies.coordination.repeats import GAP, LONGEST, LONGEST_PAGED
from policies.coordination.snapshot import Keys
from policies.coordination.switches import Switches
from policies.facts.maintenance import Maintenance
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, JOB, POLICY, at, finding, findings, plan

MINUTE = 60.0
NEVER_NOW = Hours(only=("Mon 03:00-04:00",))  # all begins on a Sunday at 10:00 UTC


def shadow(**more: Any) -> PolicyPlan:  # noqa: ANN401 - a plan's own fields
    return plan(mode=PolicyMode.SHADOW, **more)


def found(number: int, policy: PolicyPlan, seconds: float | None = None, **more: Any) -> Finding:  # noqa: ANN401 - a finding's own fields
    """Return the finding of that minute."""
    moment = number * MINUTE if seconds is None else seconds
    return finding(
        name=f"{policy.name}-{policy.revision}-{policy.mode}-{number}", policy=policy, seen=at(moment), **more
    )


def told_each_minute(table: DecisionTable, policy: PolicyPlan, minutes: range, **more: Any) -> None:  # noqa: ANN401
    for number in minutes:
        table.take(number * MINUTE + 1, findings(found(number, policy, **more)))


def times(incident: Incident) -> int:
    return incident.findings[0].times


def stopped(table: DecisionTable) -> None:
    table.switches = replace(table.switches, stop="everything is stopped by ada")


def in_hand(table: DecisionTable) -> None:
    table.maintenance["i-1"] = Maintenance(by="ada", why="new cable", until=at(1e6))


def switched_off(table: DecisionTable) -> None:
    table.switches = Switches({POLICY: PolicyMode.OFF}, otherwise=PolicyMode.ACTIVE)


def nothing(_: DecisionTable) -> None:
    pass


WAYS: Mapping[str, tuple[Callable[[DecisionTable], None], PolicyPlan]] = {
    "a policy in shadow": (nothing, shadow()),
    "everything is stopped": (stopped, plan()),
    "the policy is switched off": (switched_off, plan()),
    "a person has the node in hand": (in_hand, plan()),
    "nobody carries it out yet": (nothing, plan(Action.ISOLATE, Action.DRAIN)),
    "it is outside its hours": (nothing, plan(schedule=NEVER_NOW)),
    "it is only told": (nothing, plan(Action.ALERT)),
}


@pytest.fixture
def table() -> DecisionTable:
    return DecisionTable()


@pytest.mark.parametrize("way", WAYS)
def test_a_storm_that_nobody_acts_on_is_one_incident_that_counts(table: DecisionTable, way: str) -> None:
    hold, policy = WAYS[way]
    hold(table)
    told_each_minute(table, policy, range(120))
    note = table.incident.findings[0]
    assert (len(table.incident.findings), note.times, note.until) == (1, 120, at(119 * MINUTE))
    assert table.incident.updated_at == at(119 * MINUTE + 1)


def test_old_news_of_an_active_policy_is_one_incident_that_counts(table: DecisionTable) -> None:
    for number in range(100):
        table.take(20_000, findings(found(number, plan(), late=True)))
    assert times(table.incident) == 100


def test_what_waited_too_long_is_one_incident_however_long_each_waited(table: DecisionTable) -> None:
    policy = plan(evidence=EvidenceRule.TRANSIENT)
    table.take(9000, *(findings(found(number, policy)) for number in range(100)))
    assert times(table.incident) == 100
    assert "seen 9000 s ago" in table.incident.reason


def test_a_repeat_writes_one_document_and_nothing_of_the_timeline(table: DecisionTable) -> None:
    told_each_minute(table, shadow(), range(3))
    lines = table.incident.timeline
    decision = table.take(200, findings(found(3, shadow())))
    assert [type(change.after).__name__ for changes in decision.rounds for change in changes] == ["Incident"]
    assert table.incident.timeline == lines
    assert decision.starts == ()


def test_an_incident_of_a_whole_day_is_hardly_longer_than_one_of_an_hour(table: DecisionTable) -> None:
    told_each_minute(table, shadow(), range(60))
    hour = len(table.incident.model_dump_json())
    told_each_minute(table, shadow(), range(60, 1400))
    assert times(table.incident) == 1400
    assert len(table.incident.model_dump_json()) < hour + 100


def test_what_pauses_longer_is_told_anew(table: DecisionTable) -> None:
    table.take(1, findings(found(0, shadow())))
    table.take(2000, findings(found(1, shadow(), GAP.total_seconds())))
    table.take(9000, findings(found(2, shadow(), 2 * GAP.total_seconds() + 1)))
    assert [times(each) for each in table.incidents] == [2, 1]


def test_what_goes_on_for_days_is_told_each_day(table: DecisionTable) -> None:
    told_each_minute(table, shadow(), range(0, 3 * 1440, 10))
    spans = [
        each.findings[0].until - each.findings[0].observed_at for each in table.incidents if each.findings[0].until
    ]
    assert len(table.incidents) == 3
    assert max(spans) <= LONGEST
    assert sum(map(times, table.incidents)) == 3 * 144


def test_who_is_woken_is_woken_again_within_hours(table: DecisionTable) -> None:
    told_each_minute(table, plan(Action.PAGE_OPERATOR), range(0, 480, 5))
    assert [each.timeline[-1].alert for each in table.incidents] == ["page", "page"]
    assert table.incidents[1].opened_at - table.incidents[0].opened_at > LONGEST_PAGED


OTHERS: Mapping[str, Mapping[str, Any]] = {
    "another revision": {"policy": shadow().model_copy(update={"revision": 4})},
    "another policy": {"policy": shadow(name="another")},
    "a policy that is off": {"policy": plan(mode=PolicyMode.OFF)},
    "another part": {"component": Component(type=ComponentType.GPU, index=3)},
    "another kind": {"kind": Kind.GPU_LOST},
    "another code": {"attributes": {"xid": 95}},
    "no run": {"job": None},
    "another run": {"job": JOB.model_copy(update={"id": "train/other"})},
    "news that is late": {"late": True},
    "another node": {"node": finding("i-2").node, "generation": "i-2#0"},
    "the node's next hardware": {"generation": "i-1#1"},
}


@pytest.mark.parametrize("other", OTHERS)
def test_what_is_decided_otherwise_is_an_incident_of_its_own(table: DecisionTable, other: str) -> None:
    for number in range(0, 20, 2):
        table.take(number * MINUTE + 1, findings(found(number, shadow())))
        table.take((number + 1) * MINUTE + 1, findings(found(number + 1, shadow()).model_copy(update=OTHERS[other])))
    assert [times(each) for each in table.incidents] == [10, 10]


def test_the_same_finding_twice_changes_nothing(table: DecisionTable) -> None:
    told_each_minute(table, shadow(), range(200))
    before = table.incident
    for number in (0, 1, 100, 150, 198, 199):
        assert table.take(12_300, findings(found(number, shadow()))).incidents == ()
    assert table.incident == before


def test_told_again_as_the_next_incident_has_begun_it_is_still_counted_once(table: DecisionTable) -> None:
    told_each_minute(table, shadow(), range(1445))
    assert len(table.incidents) == 2
    total = sum(map(times, table.incidents))
    told_each_minute(table, shadow(), range(1430, 1445))
    assert (len(table.incidents), sum(map(times, table.incidents))) == (2, total)


def test_who_died_before_the_incident_was_written_is_made_up_for(table: DecisionTable) -> None:
    decision = table.decide(1, findings(found(0, shadow())))
    for change in decision.leases:
        table.store.write(change)
    told_each_minute(table, shadow(), range(1, 3))
    assert times(table.incident) == 2
    table.take(130, findings(found(0, shadow())))
    assert times(table.incident) == 3


def test_a_lease_remembers_no_more_than_so_many(table: DecisionTable) -> None:
    each_part(table, range(leases.MOST_TOLD + 30), 0)
    (lease,) = table.store.read(CLUSTER, Keys(leases=frozenset({"i-1#0"}))).leases.values()
    assert len(lease.told) == leases.MOST_TOLD
    assert len(lease.model_dump_json()) < 32_000


def each_part(table: DecisionTable, parts: range, minute: float) -> None:
    """Tell the fault of each of *parts* of one node, half a second apart."""
    for part in parts:
        gpu = Component(type=ComponentType.GPU, index=part)
        one = found(part, shadow(), minute * MINUTE + part / 2).model_copy(update={"component": gpu})
        table.take(minute * MINUTE + part / 2, findings(one.model_copy(update={"id": f"{minute}-{part}"})))


@pytest.mark.parametrize("parts", [10, 16, 17, 20, 40])
def test_of_more_than_a_lease_remembers_most_are_joined_still(
    table: DecisionTable, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "MOST_TOLD", 16)
    for turn in range(6):
        each_part(table, range(parts), turn * 10)
    assert sum(map(times, table.incidents)) == 6 * parts
    assert len(table.incidents) == parts + 5 * max(0, parts - 16)


def test_room_is_made_by_what_was_counted_longest_ago(table: DecisionTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "MOST_TOLD", 16)
    for turn in range(7):  # the first four of them go on, the others ended
        each_part(table, range(4 if turn else 16), turn * 10)
    each_part(table, range(20, 32), 65)
    for turn in (7, 8):
        each_part(table, range(4), turn * 10)
        each_part(table, range(20, 32), turn * 10 + 5)
    assert len(table.incidents) == 16 + 12


def test_what_is_counted_costs_no_second_write_while_there_is_room(table: DecisionTable) -> None:
    for minute in range(40):
        table.take(minute * MINUTE, findings(found(minute, shadow())))
    for part in range(100):
        each_part(table, range(part, part + 1), 40)
    assert [decision.leases for decision in [table.decide(2600, findings(found(41, shadow(), 2590)))]] == [()]


def test_many_nodes_of_one_run_are_one_incident_about_the_run(table: DecisionTable) -> None:
    policy = plan(Action.SUSPEND_JOB, Action.RESUME_JOB, mode=PolicyMode.SHADOW)
    for number in range(100):
        hung = finding(f"i-{number}", policy=policy, seen=at(number), kind=Kind.TRAINING_STALLED)
        part = Component(type=ComponentType.PROCESS, index=number)
        table.take(number + 1, findings(hung.model_copy(update={"component": part})))
    assert times(table.incident) == 100

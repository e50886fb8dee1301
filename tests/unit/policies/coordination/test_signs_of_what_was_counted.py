"""What joined a recorded incident is a sign still for whoever asks: facts, restarts, precision, the week's report."""

from datetime import timedelta

from policies.contract.decisions import Finding, PolicyPlan
from policies.contract.events import Component
from policies.contract.vocabulary import Action, ComponentType, Kind, PolicyMode
from policies.coordination.repeats import GAP
from policies.coordination.snapshot import Keys
from policies.facts.history import EPISODE, History, incidents_in
from policies.shadow import beside
from policies.shadow.report import Report, report_of
from policies.shadow.text import as_text
from simulator.deeds import SAME_MATTER
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, at, finding, findings, plan

SHADOW = plan(mode=PolicyMode.SHADOW)
MINUTE = 60.0


def found(number: int, policy: PolicyPlan = SHADOW, **more: object) -> Finding:
    one = finding(name=f"{policy.name}-{number}", policy=policy, seen=at(number * MINUTE))
    return one.model_copy(update=more)


def history(table: DecisionTable) -> History:
    kept = table.store.read(CLUSTER, Keys(histories=frozenset({"i-1"}))).histories["i-1"]
    assert kept
    return kept


def reported(table: DecisionTable, days: float = 3) -> Report:
    return report_of(table.incidents, {SHADOW.name: SHADOW}, at(0), at(days * 86400))


def test_a_storm_of_hours_is_one_entry_of_the_past_and_what_comes_within_it_no_other_incident() -> None:
    table = DecisionTable()
    other = plan(mode=PolicyMode.SHADOW, name="another")
    for number in range(0, 300, 5):
        table.take(number * MINUTE + 1, findings(found(number)))
    table.take(310 * MINUTE, findings(found(309, other)))
    entries = history(table).past
    assert [(each.policy, each.at, each.until) for each in entries] == [
        (SHADOW.name, at(1), at(295 * MINUTE)),
        ("another", at(310 * MINUTE), None),
    ]
    assert entries[1].at - entries[0].at > EPISODE
    assert len(incidents_in(entries)) == 1


def test_the_newest_sign_of_a_counted_fault_is_with_the_faults_of_the_hour() -> None:
    table = DecisionTable()
    for number in range(90):
        table.take(number * MINUTE + 1, findings(found(number)))
    recent = table.store.read(CLUSTER, Keys(recents=frozenset({""}))).recents[""]
    assert recent
    assert [sign.at for sign in recent.signs] == [at(89 * MINUTE)]


def test_a_restart_after_hours_of_a_counted_fault_was_foreseen_and_without_it_was_not() -> None:
    for minutes in (0, 200):
        table = DecisionTable()
        for number in range(minutes):
            table.take(number * MINUTE + 1, findings(found(number)))
        ended = plan(Action.RECORD, name="run-ended")
        table.take(201 * MINUTE, findings(found(200, ended, kind=Kind.JOB_FAILED)))
        misses = table.store.read(CLUSTER, Keys(misses=frozenset({""}))).misses[""]
        assert misses
        assert [each.foreseen for each in misses.restarts] == [minutes > 0]


def test_every_restart_that_is_counted_is_known_as_one() -> None:
    table, ended = DecisionTable(), plan(Action.RECORD, name="run-ended")
    for number in range(0, 60, 11):
        table.take(number * MINUTE + 1, findings(found(number, ended, kind=Kind.JOB_FAILED)))
    misses = table.store.read(CLUSTER, Keys(misses=frozenset({""}))).misses[""]
    assert misses
    assert len(table.incidents) == 1
    assert len(misses.restarts) == 6


def test_the_report_on_shadow_has_one_case_with_how_often_and_until_when() -> None:
    table = DecisionTable()
    for number in range(0, 2 * 1440, 6):
        table.take(number * MINUTE + 1, findings(found(number)))
    assert len(table.incidents) == 2
    report = reported(table, 4)
    ((case,),) = (one.cases for one in report.policies)
    assert (case.first, case.last, case.times) == (at(0), at((2 * 1440 - 6) * MINUTE), 480)
    assert ", gpu.xid, 480 times until 03-03 09:54; " in as_text(report)


def test_what_others_tell_apart_is_told_apart() -> None:
    assert beside.EPISODE == SAME_MATTER == GAP <= EPISODE


def test_what_comes_back_after_a_pause_is_still_told_apart() -> None:
    table = DecisionTable()
    for number in (*range(30), *range(70, 100)):
        table.take(number * MINUTE + 1, findings(found(number)))
    ((first, second),) = (one.cases for one in reported(table).policies)
    assert (first.times, second.times) == (30, 30)
    assert (first.ending, second.ending) == ("again", "again")


def test_what_aws_says_again_and_again_confirms_what_began_meanwhile() -> None:
    table = DecisionTable()
    aws = plan(Action.ALERT, name="aws-says")
    for number in range(0, 120, 5):
        table.take(number * MINUTE + 1, findings(found(number, aws, kind=Kind.INSTANCE_STATUS_IMPAIRED, job=None)))
    table.take(60 * MINUTE + 2, findings(found(60)))
    ((case,),) = (one.cases for one in reported(table).policies)
    assert case.ending == "aws"


def test_parts_of_one_node_and_codes_of_one_kind_are_counted_apart() -> None:
    table = DecisionTable()
    parts = [Component(type=ComponentType.GPU, index=index) for index in range(8)]
    for number in range(80):
        table.take(number + 1, findings(found(0, component=parts[number % 8], id=f"f{number}", observed_at=at(number))))
    assert [each.findings[0].times for each in table.incidents] == [10] * 8
    assert {each.findings[0].component for each in table.incidents} == {part.key for part in parts}


def test_a_moment_at_the_end_of_time_is_counted_nevertheless() -> None:
    table = DecisionTable()
    last = at(0).replace(year=9999, month=12, day=31, hour=23, minute=59)
    table.take(1, findings(found(0), found(1, observed_at=last), found(2, observed_at=last - timedelta(minutes=1))))
    assert sorted(each.findings[0].times for each in table.incidents) == [1, 2]
    assert {each.until for each in history(table).past} == {None, at(1)}  # no later than it was told

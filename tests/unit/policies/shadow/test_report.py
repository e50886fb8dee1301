"""What a policy in shadow would have done is told beside what was done, counted by hand here."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from policies.contract.decisions import CloseMessage, Finding, PolicyPlan
from policies.contract.events import JobRef
from policies.contract.restraints import Trust, VerdictMessage
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action, EvidenceRule, Kind, PolicyMode
from policies.coordination.incident import Incident
from policies.shadow.cases import Ending
from policies.shadow.plain import as_document
from policies.shadow.report import Advice, PolicyReport, Report, report_of
from policies.shadow.text import as_text, why
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, JOB, START, ask, finding, findings, plan, report

REPLACE = (Action.ISOLATE, Action.REPLACE_NODE, Action.RESUME_JOB)
SHADOW = plan(*REPLACE, name="shy", mode=PolicyMode.SHADOW, settle=60, evidence=EvidenceRule.TRANSIENT)
TELLER = plan(Action.ALERT, name="teller", mode=PolicyMode.SHADOW)
WEEK = START + timedelta(days=7)
HOUR = 3600.0


def at(hours: float) -> datetime:
    return START + timedelta(hours=hours)


def seen(node: str, hours: float, *, policy: PolicyPlan = SHADOW, job: JobRef | None = None, **more: object) -> Finding:
    made = finding(node, name=f"{policy.name}-{node}-{hours}", policy=policy, job=job, seen=at(hours))
    return made.model_copy(update={"decided_at": at(hours), **more})


def happened(*told: Finding, closed_by: str = "", isolated: bool = False) -> list[Incident]:
    """Return the incidents; those that are open isolate their node, if it is so, and are closed after an hour."""
    table = DecisionTable()
    for each in sorted(told, key=lambda one: one.observed_at):
        table.take((each.observed_at - START).total_seconds(), findings(each))
    for one in [each for each in table.incidents if each.status.is_open]:
        opened = (one.opened_at - START).total_seconds()
        if isolated:
            table.take(opened + 20, ask(one.id))
            done = report(Rung.ISOLATE, when=START + timedelta(seconds=opened + 60))
            table.take(opened + 60, ask(one.id, 1, report=done))
        if closed_by:
            message = CloseMessage(cluster=CLUSTER, incident=one.id, by=closed_by, reason="seen to")
            table.take(opened + HOUR, message)
    return list(table.incidents)


def reported(incidents: Iterable[Incident], *plans: PolicyPlan, until: datetime = WEEK) -> Report:
    shadow = {each.name: each for each in (plans or (SHADOW, TELLER))}
    return report_of(list(incidents), shadow, START, until)


def only(report: Report) -> PolicyReport:
    (one,) = report.policies
    return one


def test_what_is_seen_of_one_node_within_half_an_hour_is_one_case() -> None:
    one = only(reported(happened(seen("i-1", 1), seen("i-1", 1.25), seen("i-2", 1.25))))
    assert [(case.instance, case.first, case.last) for case in one.cases] == [
        ("i-1", at(1), at(1.25)),
        ("i-2", at(1.25), at(1.25)),
    ]
    assert one.cases[0].at == at(1) + timedelta(seconds=60), "its settling comes first"


@pytest.mark.parametrize(
    ("told", "ending"),
    [
        ((seen("i-1", 1),), Ending.AWAY),
        ((seen("i-1", 1), seen("i-1", 9)), Ending.AGAIN),
        ((seen("i-1", 1), seen("i-1", 25.5)), Ending.AWAY),
        ((seen("i-1", 160),), Ending.OPEN),
        ((seen("i-1", 1), seen("i-1", 100, policy=plan(Action.RECORD, name="aws"), kind=Kind.INSTANCE_STATUS_IMPAIRED)),
         Ending.AWS),
    ],
)  # fmt: skip
def test_how_a_case_ends(told: tuple[Finding, ...], ending: Ending) -> None:
    assert only(reported(happened(*told))).cases[0].ending is ending


def test_four_of_five_are_enough_to_be_armed_and_fewer_are_not() -> None:
    """Two cases are real on the one node, four on the two, and one goes away."""
    real = [seen(f"i-{number}", hours) for number in (1, 2) for hours in (1, 9)]
    away = seen("i-9", 1)
    assert only(reported(happened(*real, away))).right == 4 / 5
    assert only(reported(happened(*real, away))).advice is Advice.ARM
    assert only(reported(happened(*real[:2], away))).advice is Advice.MEND


def test_a_policy_is_measured_by_the_trust_that_it_asks_for_itself() -> None:
    real = [seen(f"i-{number}", hours) for number in (1, 2) for hours in (1, 9)]
    told = happened(*real, seen("i-9", 1))
    strict, lax = (SHADOW.model_copy(update={"trust": Trust(at_least=share, of=10)}) for share in (0.81, 0.5))
    assert only(reported(told, strict)).advice is Advice.MEND
    assert only(reported(happened(*real[:2], seen("i-9", 1)), lax)).advice is Advice.ARM


def test_a_policy_that_only_collects_evidence_would_have_touched_nothing() -> None:
    collecting = plan(Action.COLLECT_EVIDENCE, name=SHADOW.name)
    report = reported(happened(seen("i-1", 1)), collecting)
    assert (report.policies, report.quiet, report.tell_only) == ((), (), 1)


def test_silence_says_nothing_of_what_is_told_of_once() -> None:
    latched = SHADOW.model_copy(update={"evidence": EvidenceRule.LATCHED})
    one = only(reported(happened(seen("i-1", 1, policy=latched)), latched))
    assert (one.cases[0].ending, one.right, one.advice) == (Ending.SILENT, None, Advice.WAIT)


@pytest.mark.parametrize(("verdict", "ending"), [("faulty", Ending.FAULTY), ("healthy", Ending.HEALTHY)])
def test_a_persons_word_comes_first(verdict: str, ending: Ending) -> None:
    table = DecisionTable()
    table.take(HOUR, findings(seen("i-1", 1)))
    word = {"cluster": CLUSTER, "incident": table.incident.id, "by": "kim", "verdict": verdict, "at": at(2)}
    table.take(2 * HOUR, VerdictMessage.model_validate(word))
    assert only(reported(table.incidents)).cases[0].ending is ending


def test_what_another_policy_did_later_is_told_beside_it_with_what_that_cost() -> None:
    """Eight GPUs of one node for two hours less the minute of settling."""
    other = plan(*REPLACE, name="armed")
    incidents = happened(seen("i-1", 1), seen("i-1", 3, policy=other), isolated=True)
    one = only(reported(incidents))
    (case,) = one.cases
    assert (case.ending, case.beside[0].policy, case.beside[0].person) == (Ending.ANSWERED, "armed", "")
    assert (one.real, one.needless, one.advice) == (1, 0, Advice.ARM)
    began = (case.beside[0].at - case.at).total_seconds() / HOUR
    assert one.gpu_hours == pytest.approx(8 * began)
    assert began == pytest.approx(3 - 1 - 60 / HOUR, abs=1.1)


def test_a_run_loses_the_hours_of_all_its_nodes_once() -> None:
    """Two nodes of a run, both come back nine hours later: 16 GPUs for eight hours less the minute of settling."""
    told = [seen(node, hours, job=JOB) for node in ("i-1", "i-2") for hours in (1, 9)]
    one = only(reported(happened(*told)))
    assert one.endings == {Ending.AGAIN: 4}
    assert one.gpu_hours == pytest.approx(16 * (8 - 60 / HOUR))


def test_a_run_whose_size_its_faults_name_loses_the_hours_of_all_its_ranks() -> None:
    """One node of a run of 64 ranks, which comes back nine hours later."""
    sized = JOB.model_copy(update={"world_size": 64})
    one = only(reported(happened(*(seen("i-1", hours, job=sized) for hours in (1, 9)))))
    assert one.gpu_hours == pytest.approx(64 * (8 - 60 / HOUR))


def test_a_note_in_the_incident_of_another_policy_is_a_case_too() -> None:
    other = plan(*REPLACE, name="armed")
    one = only(reported(happened(seen("i-1", 1, policy=other), seen("i-1", 1.01))))
    assert one.cases[0].instance == "i-1"
    assert one.cases[0].incident == happened(seen("i-1", 1, policy=other))[0].id


def test_what_is_late_or_only_tells_would_have_touched_nothing() -> None:
    report = reported(happened(seen("i-1", 1, late=True), seen("i-2", 1, policy=TELLER)))
    assert (report.policies, report.quiet, report.tell_only) == ((), ("shy",), 1)
    assert "0 policies in shadow would have acted" in as_text(report)


def test_what_an_armed_policy_acted_on_before_it_was_put_in_shadow_is_no_case() -> None:
    active = SHADOW.model_copy(update={"mode": PolicyMode.ACTIVE})
    assert reported(happened(seen("i-1", 1, policy=active))).policies == ()


def test_only_what_began_in_the_period_counts() -> None:
    shadow = {SHADOW.name: SHADOW}
    incidents = happened(seen("i-1", 1), seen("i-2", 48))
    report = report_of(incidents, shadow, at(24), WEEK)
    assert [case.instance for case in only(report).cases] == ["i-2"]
    assert report.incidents == 1


def test_the_first_to_arm_come_first_and_those_that_act_for_nothing_last() -> None:
    right, wrong, new = (SHADOW.model_copy(update={"name": name}) for name in ("b-right", "a-wrong", "c-new"))
    told = [seen(f"i-{number}", hours, policy=right) for number in (1, 2) for hours in (1, 9, 17)]
    told += [seen("i-3", 1, policy=wrong), seen("i-4", 160, policy=new)]
    report = reported(happened(*told), right, wrong, new)
    assert [(one.plan.name, one.advice) for one in report.policies] == [
        ("b-right", Advice.ARM),
        ("c-new", Advice.WAIT),
        ("a-wrong", Advice.MEND),
    ]
    assert [one.right for one in report.policies] == [1.0, None, 0.0]


def test_the_text_says_what_to_do_next() -> None:
    right, wrong = (SHADOW.model_copy(update={"name": name}) for name in ("right", "wrong"))
    other = plan(*REPLACE, name="armed")
    incidents = happened(
        seen("i-1", 1, policy=right, job=JOB),
        seen("i-1", 2, policy=other),
        seen("i-2", 3, policy=wrong),
        isolated=True,
    )
    told = reported(incidents, right, wrong)
    text = as_text(told)
    assert "relight policy set-mode right active" in text
    needless = next(one for one in told.policies if one.plan.name == "wrong").cases[0].incident
    assert f"relight policy record {needless[:12]} --policy wrong --findings 0" in text
    assert "answered: armed: isolate, 59 min later" in text
    assert "1 went away by themselves" in why(told.policies[-1])
    document = as_document(told)
    assert document["candidates"] == ["right"]
    assert [one["advice"] for one in document["policies"]] == ["arm", "mend"]
    assert document["policies"][0]["cases"][0]["beside"][0]["done"] == ["isolate"]


def test_what_a_person_closed_is_told_beside_it_and_is_no_evidence() -> None:
    other = plan(*REPLACE, name="armed")
    for isolated in (False, True):
        told = reported(happened(seen("i-1", 1), seen("i-1", 2, policy=other), closed_by="kim", isolated=isolated))
        assert (only(told).endings, only(told).advice) == ({Ending.CLOSED: 1}, Advice.WAIT)
        assert "closed: kim closed it" in as_text(told)
        assert only(told).gpu_hours == 0


def test_a_long_report_stays_a_few_pages() -> None:
    plans = [SHADOW.model_copy(update={"name": f"policy-{number}"}) for number in range(40)]
    told = [seen(f"i-{number}", 1, policy=each) for each in plans for number in range(12)]
    text = as_text(reported(happened(*told), *plans))
    assert "and 20 more" in text
    assert "and 7 cases more" in text
    assert len(text) < 32_000


def test_the_order_of_incidents_does_not_matter() -> None:
    incidents = happened(*[seen(f"i-{number}", hours) for number in range(4) for hours in (1, 2, 30)])
    one, other = reported(incidents), reported(reversed(incidents))
    assert replace(one) == other

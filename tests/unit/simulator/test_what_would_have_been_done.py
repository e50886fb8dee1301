"""Candidates, switches and recorded outcomes: what a replay makes of them."""

from datetime import datetime, timedelta
from typing import Any

from policies.contract.archive import Happening
from policies.contract.archive_names import INCIDENTS, POLICIES
from policies.contract.decisions import RungReport
from policies.contract.rungs import Rung, RungStatus
from policies.contract.times import format_time
from policies.contract.vocabulary import PolicyMode
from policies.coordination.incident import Incident
from policies.coordination.states import IncidentStatus
from simulator.backtest import Asked, Report, backtest, read_past
from simulator.deeds import Difference, compare
from simulator.in_force import Revisions
from simulator.recorded import Recorded
from simulator.replay import Question
from tests.tools.envelopes import NOW, envelope, event, node
from tests.tools.replays import documents, head, history, incidents, record, replayed, revision, shelved

BEFORE = NOW - timedelta(hours=1)


def in_force(*names: str) -> list[Happening]:
    """Return that the policies of these *names* (all) came into force an hour before."""
    mine = [each for each in documents() if not names or each["name"] in names]
    return [told for each in mine for told in revision(head(each), BEFORE)]


def recorded(told: list[Incident]) -> list[Happening]:
    """Return what the archive would hold of incidents that ended so."""
    return [
        Happening(each.updated_at, "incident", f"{each.id}:{each.version:08d}", each.model_dump(mode="json"))
        for each in told
    ]


def asked(happened: list[Happening], told: list[Incident], **more: Any) -> Report:  # noqa: ANN401 - as `Asked` takes them
    archive = shelved(history(), {POLICIES: happened, INCIDENTS: recorded(told)})
    question = Asked(archive, "an archive", **more)
    return backtest(question, read_past(question))


def past_of(happened: list[Happening]) -> list[Incident]:
    return incidents(history(), Question(Revisions.of(happened)))


def test_the_past_told_again_is_the_past() -> None:
    happened = in_force()
    past = past_of(happened)
    report = asked(happened, past)
    assert {each.difference for each in report.matters} == {Difference.SAME}
    assert {each.incident for each in report.after.deeds} == {each.id for each in past}
    assert {each.finding for each in report.after.deeds} == {each.findings[0].id for each in past}
    assert report.new_acts == 0
    assert report.after.cost == report.before.cost
    assert report.after.cost.gpu_hours > 0


def test_a_candidate_shows_exactly_what_it_would_do_more() -> None:
    happened = in_force("fell-off-the-bus")
    report = asked(happened, past_of(happened), candidate=[head(each) for each in documents()])
    new = [each for each in report.matters if each.difference is not Difference.SAME]
    assert new
    assert {each.difference for each in new} == {Difference.NEW}
    assert {each.either.policy for each in new} == {"contained"}
    assert {each.either.instance for each in new} == {"i-1", "i-5", "i-9"}
    assert report.new_acts == len([each for each in new if each.either.acts])


def test_a_candidate_without_a_policy_shows_what_it_would_leave() -> None:
    happened = in_force()
    kept = [head(each) for each in documents() if each["name"] == "contained"]
    report = asked(happened, past_of(happened), candidate=kept)
    gone = [each for each in report.matters if each.difference is Difference.GONE]
    assert {each.either.policy for each in gone} == {"fell-off-the-bus"}
    assert report.new_acts == 0


def test_a_document_that_history_knows_keeps_its_revision_and_another_gets_the_next() -> None:
    revisions = Revisions.of(told for each in documents() for told in revision(head(each), BEFORE, number=4))
    same, other = documents()
    other["why"] = "Somebody wrote it anew."
    assert head(same, revisions).revision == 4
    assert head(other, revisions).revision == 5


def test_a_policy_that_was_turned_off_in_the_middle_does_nothing_from_then_on() -> None:
    middle = NOW + timedelta(minutes=50)
    off = {**documents()[0], "mode": PolicyMode.OFF.value}
    revisions = Revisions.of([*in_force(), *revision(head(off), middle, number=2)])
    deeds = replayed(history(), Question(revisions))
    mine = [each for each in deeds if each.policy == "fell-off-the-bus"]
    assert mine
    assert max(each.opened_at for each in mine) < middle
    assert [each for each in deeds if each.policy == "contained" and each.opened_at > middle]


def test_the_stop_of_everything_holds_for_a_candidate_as_well() -> None:
    stop = Happening(BEFORE, "switch", "#everything:1", {"mode": "off", "edited_by": "ann", "reason": "a bad image"})
    deeds = replayed(history(), Question(Revisions.of([stop]), candidate=[head(each) for each in documents()]))
    assert deeds
    assert not [each for each in deeds if each.acts]
    assert all("a bad image" in each.reason for each in deeds)


def test_a_rung_goes_as_it_was_recorded_and_others_as_they_usually_do() -> None:
    happened = in_force()
    first = next(each for each in past_of(happened) if Rung.REPLACE_NODE in each.done)
    late = first.opened_at + timedelta(minutes=17)
    ending = RungReport(rung=Rung.REPLACE_NODE, status=RungStatus.DONE, at=late, outcome={"new_instance": "i-new"})
    act = act_of(first, ending, late)
    again = incidents(history(), Question(Revisions.of(happened), Recorded.of([act])))
    mine = next(each for each in again if each.id == first.id)
    assert mine.facts["new_instance"] == "i-new"
    assert next(each.at for each in mine.timeline if each.stage == "instance_replaced") == late


def test_a_rung_that_never_ended_goes_on_until_the_deadline() -> None:
    happened = in_force()
    past = past_of(happened)
    first = next(each for each in past if Rung.REPLACE_NODE in each.done)
    waiting = RungReport(rung=Rung.REPLACE_NODE, status=RungStatus.WAITING, at=first.opened_at, wait_seconds=5)
    parked = first.model_copy(update={"status": IncidentStatus.PARKED})
    told = [act_of(first, waiting, first.opened_at), *recorded([parked])]
    again = incidents(history(), Question(Revisions.of(happened), Recorded.of(told)))
    mine = next(each for each in again if each.id == first.id)
    assert mine.status == "parked"
    assert "overdue" in mine.reason or "deadline" in mine.reason
    assert Rung.REPLACE_NODE not in mine.done


def act_of(incident: Incident, report: RungReport, at: datetime) -> Happening:
    document = {
        "incident": incident.id,
        "rung": report.rung.value,
        "attempt": 1,
        "turn": 0,
        "fence": 1,
        "intended_at": format_time(at),
        "report": report.model_dump(mode="json"),
        "updated_at": format_time(at),
    }
    return Happening(at, "act", f"{incident.id}:{report.rung}", document)


def test_a_persons_answer_counts_where_there_is_somebody_to_answer() -> None:
    asking = {**documents()[0], "approval": True}
    happened = revision(head(asking), BEFORE)
    waiting = [each for each in past_of(happened) if each.approve_until]
    assert waiting
    assert not [each for each in waiting if each.done]
    yes = waiting[0].opened_at + timedelta(minutes=2)
    entry = {"number": 99, "version": 9, "stage": "approved", "at": format_time(yes), "detail": "by ann: go on"}
    document = waiting[0].model_dump(mode="json")
    document["timeline"].append(entry)
    told = Happening(yes, "incident", "it", {**document, "version": 99})
    again = incidents(history(), Question(Revisions.of(happened), Recorded.of([told])))
    mine = next(each for each in again if each.id == waiting[0].id)
    assert mine.approved_by == "ann"
    assert Rung.REPLACE_NODE in mine.done
    assert [each.id for each in again if each.done] == [mine.id]


def test_the_same_matter_under_another_revision_is_the_same() -> None:
    happened = in_force()
    before = replayed(history(), Question(Revisions.of(happened)))
    anew = [head({**each, "why": "Written anew."}) for each in documents()]
    after = replayed(history(), Question(candidate=anew))
    assert not {each.incident for each in before} & {each.incident for each in after}
    assert {each.difference for each in compare(before, after)} == {Difference.SAME}


def test_which_driver_neighbours_have_is_what_their_envelopes_say() -> None:
    drivers = ("570.148.08", "580.95.05", "570.148.08", "570.148.08", "", "580.95.05")
    told = []
    for number, driver in enumerate(drivers):
        here = node(f"i-{number}").model_copy(update={"driver_version": driver})
        made = envelope(event(0, number * 300, xid=79), sent=number * 300, identity=here, spool=f"s{number}")
        told.append(record(made, number * 300 + 0.05, number))
    excepted = {**documents()[0], "unless": "neighbours.same_kind_driver >= 2"}
    deeds = replayed(told, Question(candidate=[head(excepted)]))
    assert sorted(deed.instance for deed in deeds if deed.acts) == ["i-0", "i-1", "i-2", "i-4", "i-5"]

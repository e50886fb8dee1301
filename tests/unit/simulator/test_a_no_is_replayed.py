"""What persons refused, and for how long, holds in a replay as it did."""

from datetime import datetime, timedelta

from policies.contract.archive import Happening
from policies.contract.restraints import ApproveMessage
from policies.coordination.asking_again import id_of
from policies.coordination.decide import decide
from policies.coordination.incident import Incident
from policies.coordination.memory import MemoryStore
from policies.coordination.snapshot import Snapshot
from simulator.in_force import Revisions
from simulator.recorded import Recorded
from simulator.replay import Question, Replay
from simulator.store import ReplayStore
from tests.tools.envelopes import NOW
from tests.tools.incidents import RULES
from tests.tools.replays import documents, head, history, incidents, revision

ASKS = revision(head({**documents()[0], "approval": True}), NOW - timedelta(hours=1))


def said(incident: Incident, at: datetime, minutes: float, by: str = "kim") -> Incident:
    """Return *incident* after somebody's no for so many *minutes*, as the archive has it."""
    word = ApproveMessage(
        cluster=incident.cluster,
        incident=incident.id,
        by=by,
        reason="a test: see 12",
        approved=False,
        at=at,
        for_seconds=minutes * 60,
    )
    decision = decide(Snapshot(incident.cluster, {incident.id: incident}), [word], at, rules=RULES)
    (change,) = decision.incidents
    return change.after


def archived(incident: Incident) -> Recorded:
    told = Happening(incident.updated_at, "incident", "it", incident.model_dump(mode="json"))
    return Recorded.of([told])


def first() -> Incident:
    asking = [each for each in incidents(history(), Question(Revisions.of(ASKS))) if each.approve_until]
    return next(each for each in asking if each.node.instance_id == "i-0")


def again(recorded: Recorded) -> list[Incident]:
    found = incidents(history(), Question(Revisions.of(ASKS), recorded))
    return sorted(
        (each for each in found if each.node.instance_id == first().node.instance_id), key=lambda each: each.opened_at
    )


def test_each_word_is_told_with_who_when_and_for_how_long() -> None:
    at = first().opened_at + timedelta(minutes=1)
    denied = said(said(first(), at, 90), at + timedelta(minutes=30), 0, by="lee")
    words = [(each.at, each.message) for each in archived(denied).answers()]
    assert [
        (moment, told.by, told.reason, told.at, told.for_seconds)
        for moment, told in words
        if isinstance(told, ApproveMessage)
    ] == [
        (at, "kim", "a test: see 12", at, 5400.0),
        (at + timedelta(minutes=30), "lee", "a test: see 12", at + timedelta(minutes=30), 0.0),
    ]


def test_nobody_is_asked_in_the_replay_while_it_held_and_somebody_is_afterwards() -> None:
    at = first().opened_at + timedelta(minutes=1)
    denied, recorded, asking = again(archived(said(first(), at, 50)))
    assert (denied.outcome, denied.denials[0].until) == ("denied", at + timedelta(minutes=50))
    assert (recorded.outcome, recorded.findings[0].times) == ("recorded", 2)
    assert "denied before by kim" in asking.reason
    assert asking.opened_at > at + timedelta(minutes=50)


def test_one_that_was_ended_early_ends_early_in_the_replay() -> None:
    at = first().opened_at + timedelta(minutes=1)
    ended = said(said(first(), at, 600), at + timedelta(minutes=30), 0, by="lee")
    _denied, recorded, asking = again(archived(ended))
    assert recorded.findings[0].times == 1
    assert asking.status.is_open


def test_one_of_before_a_no_had_a_time_is_told_by_its_last_line_and_holds_for_none() -> None:
    at = first().opened_at + timedelta(minutes=1)
    old = said(first(), at, 0).model_copy(update={"denials": ()})
    (told,) = archived(old).answers()
    assert isinstance(told.message, ApproveMessage)
    assert (told.message.by, told.message.at, told.message.for_seconds) == ("kim", None, 0.0)


def test_what_is_never_found_again_is_asked_for_once_the_no_is_over_as_it_was() -> None:
    at = first().opened_at + timedelta(minutes=1)
    question = Question(Revisions.of(ASKS), archived(said(first(), at, 30)))
    until = at + timedelta(minutes=29)
    found = incidents([each for each in history() if each.arrived_at < until], question)
    mine = sorted((each for each in found if each.node == first().node), key=lambda each: each.opened_at)
    denied, recorded, asking = mine
    assert (denied.outcome, recorded.findings[0].times) == ("denied", 1)
    assert asking.id == id_of(recorded)
    assert timedelta() <= asking.opened_at - (at + timedelta(minutes=30)) <= timedelta(minutes=1)
    assert "denied before by kim" in asking.reason


def test_a_replay_that_is_resumed_knows_what_was_recorded_for_a_no() -> None:
    at = first().opened_at + timedelta(minutes=1)
    replay = Replay(Question(Revisions.of(ASKS), archived(said(first(), at, 600))))
    replay.run(history())
    store, cluster = replay.store, first().cluster
    resumed = ReplayStore()
    for document in store.documents():
        resumed.restore(*document)
    since = NOW - timedelta(hours=1)
    assert resumed.list_denied(cluster, since) == MemoryStore.list_denied(store, cluster, since) != ()
    assert resumed.looked_at == [cluster]
    assert resumed.list_denied(cluster, NOW + timedelta(days=1)) == ()
    assert (resumed.looked_at, resumed.rests) == ([], not resumed.at_work)

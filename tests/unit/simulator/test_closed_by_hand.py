"""What a person closed goes in a replay as it went, under the word of today and under that of before."""

from datetime import timedelta

import pytest

from policies.contract.archive import Happening
from policies.contract.decisions import CloseMessage
from policies.coordination.decide import decide
from policies.coordination.incident import Incident
from policies.coordination.snapshot import Snapshot
from simulator.deeds import deed_of
from simulator.in_force import Revisions
from simulator.recorded import Recorded
from simulator.replay import Question
from tests.tools.envelopes import NOW
from tests.tools.incidents import RULES
from tests.tools.replays import documents, head, history, incidents, revision

ASKS = revision(head({**documents()[0], "approval": True}), NOW - timedelta(hours=1))


def asking() -> Incident:
    found = [each for each in incidents(history(), Question(Revisions.of(ASKS))) if each.approve_until]
    return next(each for each in found if each.node.instance_id == "i-0")


def closed(word: str) -> Incident:
    incident = asking()
    message = CloseMessage(cluster=incident.cluster, incident=incident.id, by="kim", reason="seen to: the cable")
    at = incident.opened_at + timedelta(minutes=1)
    (change,) = decide(Snapshot(incident.cluster, {incident.id: incident}), [message], at, rules=RULES).incidents
    *before, last = change.after.timeline
    said = last.model_copy(update={"detail": f"{word}: by kim: seen to: the cable"})
    return change.after.model_copy(update={"outcome": word, "timeline": (*before, said)})


@pytest.mark.parametrize("word", ["closed_by_person", "recovered"])
def test_it_is_closed_in_the_replay_and_ends_the_same(word: str) -> None:
    past = closed(word)
    recorded = Recorded.of([Happening(past.updated_at, "incident", "it", past.model_dump(mode="json"))])
    (told,) = recorded.answers()
    assert isinstance(told.message, CloseMessage)
    assert (told.message.by, told.message.reason) == ("kim", "seen to: the cable")
    found = incidents(history(), Question(Revisions.of(ASKS), recorded))
    again = next(each for each in found if each.id == past.id)
    assert deed_of(again).result == deed_of(past).result == "closed_by_person"

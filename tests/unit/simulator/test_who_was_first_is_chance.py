"""Nodes of one run stand still at once, and whichever is decided first names the incident: it goes as it went."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from policies.contract.archive import ArchivedRecord, Happening
from policies.contract.decisions import RungReport
from policies.contract.rungs import Rung, RungStatus
from policies.contract.times import format_time
from policies.contract.vocabulary import Kind
from policies.coordination.incident import Incident
from simulator.costs import cost_of
from simulator.deeds import deed_of
from simulator.recorded import Recorded
from simulator.replay import Question, Replay
from simulator.runs import Sizes
from tests.tools.envelopes import at, envelope, event, node
from tests.tools.replays import RUN, documents, head, record

SIZED = RUN.model_copy(update={"world_size": 64})
RESTARTS = {**documents()[0], "name": "stalled", "when": 'event.kind == "training.stalled"', "do": ["resume_job"]}
TOOK = {
    Rung.COLLECT_EVIDENCE: 1.0,
    Rung.SUSPEND_JOB: 2.0,
    Rung.CHOOSE_CHECKPOINT: 3.0,
    Rung.RESUME_JOB: 4.0,
    Rung.CONFIRM_RESUME: 20.0,
}
NAMES = ("i-1", "i-2", "i-3")


def stalled(*names: str) -> list[ArchivedRecord]:
    """Return that nodes of these *names* were seen to stand still, in this order, within milliseconds."""
    told = []
    for number, name in enumerate(names):
        here = event(0, 60.0, kind=Kind.TRAINING_STALLED, xid=None, component=None, job=SIZED)
        here = here.model_copy(update={"id": f"{name[-1]}" * 32})
        made = envelope(here, sent=60.0, identity=node(name), spool=f"s-{name}")
        told.append(record(made, 60.1 + number / 1000, number))
    return told


def replayed(names: Sequence[str], recorded: Recorded | None = None) -> tuple[Incident, int]:
    replay = Replay(Question(candidate=[head(RESTARTS)], recorded=recorded or Recorded()))
    replay.run(stalled(*names))
    (found,) = replay.finish()
    return found, replay.rehearsal.assumed


def kept(incident: Incident) -> Happening:
    return Happening(incident.updated_at, "incident", "it", incident.model_dump(mode="json"))


def acts(incident: Incident) -> list[Happening]:
    """Return how each of its rungs went, in so many seconds."""
    told, moment = [], incident.opened_at
    for rung, seconds in TOOK.items():
        moment += timedelta(seconds=seconds)
        report = RungReport(rung=rung, status=RungStatus.DONE, at=moment)
        document = {"incident": incident.id, "rung": rung.value, "attempt": 1, "turn": 0, "fence": 1}
        times = {"intended_at": format_time(moment), "updated_at": format_time(moment)}
        told.append(
            Happening(moment, "act", rung.value, {**document, **times, "report": report.model_dump(mode="json")})
        )
    return told


@pytest.mark.parametrize("names", [NAMES, NAMES[::-1], ("i-2", "i-3", "i-1")])
def test_whoever_was_first_the_acts_take_what_they_took(names: Sequence[str]) -> None:
    past, assumed = replayed(NAMES)
    assert (len(past.findings), assumed) == (3, len(TOOK))
    again, assumed = replayed(names, Recorded.of([kept(past), *acts(past)]))
    assert (again.id == past.id) == (names[0] == NAMES[0])
    assert (again.done, assumed) == (tuple(TOOK), 0)
    hours = (TOOK[Rung.CHOOSE_CHECKPOINT] + TOOK[Rung.RESUME_JOB] + TOOK[Rung.CONFIRM_RESUME]) / 3600
    assert cost_of([deed_of(again)], Sizes(), at(9999)).stopped == pytest.approx(64 * hours)


@pytest.mark.parametrize("names", [NAMES, NAMES[::-1]])
def test_what_a_person_answered_is_answered_whoever_was_first(names: Sequence[str]) -> None:
    past, _assumed = replayed(NAMES)
    moment = past.opened_at + timedelta(seconds=1)
    closing = {"number": 99, "version": 9, "stage": "closed", "at": format_time(moment), "detail": "by ann: a drill"}
    document = past.model_dump(mode="json")
    document |= {"status": "closed", "timeline": [*document["timeline"][:2], closing], "version": 99}
    again, _assumed = replayed(names, Recorded.of([Happening(moment, "incident", "it", document)]))
    assert (again.status, again.done) == ("closed", ())
    assert "ann: a drill" in again.reason


def test_what_another_policy_found_is_another_incident() -> None:
    past, _assumed = replayed(NAMES)
    others = tuple(note.model_copy(update={"policy": "another"}) for note in past.findings[1:])
    mixed = past.model_copy(update={"findings": (past.findings[0], *others)})
    again, assumed = replayed(NAMES[::-1], Recorded.of([kept(mixed), *acts(mixed)]))
    assert (again.id != past.id, assumed) == (True, len(TOOK))

"""A kept replay goes on only where the archive still tells the same of what was under way when it was kept."""

from datetime import timedelta
from pathlib import Path

import pytest

from functions.twins.archive import MemoryArchive
from policies.contract.archive import Happening
from policies.contract.archive_names import INCIDENTS
from policies.contract.errors import BadInputError
from policies.coordination.states import IncidentStatus
from simulator.backtest import Account, Asked, backtest, read_past
from simulator.recorded import Recorded
from simulator.replay import Question, Replay
from tests.tools.archives import write_happenings
from tests.tools.envelopes import NOW, envelope, event, node
from tests.tools.replays import acts_of, documents, head, incidents, kept, record, shelved

POLICY = {**documents()[0], "settle": "40s", "deadline": "12h"}
OTHER_WORDS = {**POLICY, "why": "Somebody wrote it anew."}
MIDNIGHT = NOW.replace(hour=0) + timedelta(days=1)
FOUND = (MIDNIGHT - NOW - timedelta(minutes=10)).total_seconds()
UNTIL = MIDNIGHT + timedelta(hours=3)
RUNG_SECONDS = 1200.0
RECORDS = [
    record(envelope(event(0, FOUND - 1, xid=79), sent=FOUND, identity=node("i-0"), first_seq=0), FOUND, 0),
    *(
        record(envelope(sent=seconds, identity=node("i-1"), spool="other"), seconds, number)
        for number, seconds in enumerate((FOUND + 900.0, FOUND + 9000.0), 1)
    ),
]


def happened() -> list[Happening]:
    """Return each version of what came of it, and how each rung went: each took 20 minutes."""
    question = Question(candidate=[head(POLICY)])
    acts = [told for each in incidents(RECORDS, question) for told in acts_of(each, RUNG_SECONDS)]
    replay = Replay(Question(candidate=[head(POLICY)], recorded=Recorded.of(acts)))
    versions: dict[str, Happening] = {}
    replay.run(RECORDS[:1])
    for minute in range(1, 180):
        replay.pass_to(RECORDS[0].arrived_at + timedelta(minutes=minute))
        versions |= {told.id: told for told in map(kept, replay.store.everyone())}
    return sorted((*acts, *versions.values()), key=lambda each: each.at)


def grown(at_first: timedelta) -> tuple[MemoryArchive, MemoryArchive]:
    """Return the archive as it was so long after midnight, and as it is when all has ended."""
    everything, end = happened(), MIDNIGHT + at_first
    first = shelved(RECORDS, {INCIDENTS: [each for each in everything if each.at <= end]})
    later = MemoryArchive()
    later.objects |= first.objects
    write_happenings(later, [each for each in everything if each.at > end])
    return first, later


def asked(archive: MemoryArchive, document: dict[str, object], folder: Path | None) -> Account:
    question = Asked(archive, "an archive", [head(document)], until=UNTIL, resume=folder)
    return backtest(question, read_past(question)).after


@pytest.mark.parametrize("document", [POLICY, OTHER_WORDS], ids=["the same", "other words"])
@pytest.mark.parametrize("minutes", [6, 31, 61])
def test_what_was_told_of_an_incident_that_was_open_is_told_anew_once_more_is_known(
    minutes: int, document: dict[str, object], tmp_path: Path
) -> None:
    first, later = grown(timedelta(minutes=minutes))
    asked(first, document, tmp_path)
    assert asked(first, document, tmp_path) == asked(first, document, None)
    with pytest.raises(BadInputError, match="has changed since"):
        asked(later, document, tmp_path)


@pytest.mark.parametrize("document", [POLICY, OTHER_WORDS], ids=["the same", "other words"])
def test_what_was_over_or_had_not_begun_keeps_nobody_from_going_on(document: dict[str, object], tmp_path: Path) -> None:
    first, _later = grown(timedelta(minutes=80))
    later = MemoryArchive()
    later.objects |= first.objects
    another = incidents(RECORDS, Question(candidate=[head(POLICY)]))[0].model_copy(
        update={"id": "another", "status": IncidentStatus.ACTING, "opened_at": MIDNIGHT + timedelta(minutes=1)}
    )
    write_happenings(later, [kept(another)._replace(at=MIDNIGHT + timedelta(hours=2))])
    asked(first, document, tmp_path)
    assert asked(later, document, tmp_path) == asked(later, document, None)

"""What comes of a replay depends on what arrived and when, on nothing else."""

import gzip
import random
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from policies.contract.archive import ArchivedRecord
from policies.contract.errors import BadInputError
from policies.coordination.memory import MemoryStore
from policies.coordination.states import IncidentStatus
from simulator import checkpoint
from simulator.archive.period import read_records
from simulator.archive.reading import Told
from simulator.replay import Question, Replay
from simulator.store import KINDS
from tests.tools.envelopes import NOW
from tests.tools.replays import documents, head, history, incidents, replayed, shelved

QUESTION = Question(candidate=[head(each) for each in documents()])
LONG_AFTER = NOW + timedelta(days=9)


def read(records: Sequence[ArchivedRecord], pieces: int = 3) -> list[ArchivedRecord]:
    return list(read_records(shelved(records, pieces=pieces), NOW - timedelta(days=1), LONG_AFTER, Told()))


def shuffled(records: Sequence[ArchivedRecord]) -> list[ArchivedRecord]:
    return read(random.Random(3).sample(records, len(records)))


def shuffled_in_its_objects(records: Sequence[ArchivedRecord]) -> list[ArchivedRecord]:
    """Somebody who copied an archive left the lines of its objects in no order."""
    archive, chance = shelved(records), random.Random(5)
    for key, body in list(archive.objects.items()):
        lines = gzip.decompress(body).splitlines(keepends=True)
        chance.shuffle(lines)
        archive.objects[key] = gzip.compress(b"".join(lines))
    return list(read_records(archive, NOW - timedelta(days=1), LONG_AFTER, Told()))


def twice(records: Sequence[ArchivedRecord]) -> list[ArchivedRecord]:
    return read([*records, *records[::2], *records[:7]])


def split_otherwise(records: Sequence[ArchivedRecord]) -> list[ArchivedRecord]:
    return read(records, pieces=11)


@pytest.mark.parametrize("told", [shuffled, shuffled_in_its_objects, twice, split_otherwise])
def test_the_same_records_give_the_same_findings_incidents_and_acts(
    told: Callable[[Sequence[ArchivedRecord]], list[ArchivedRecord]],
) -> None:
    records = history()
    expected = replayed(records, QUESTION)
    assert [deed for deed in expected if deed.acts], "the history must make somebody act"
    assert replayed(told(records), QUESTION) == expected


def test_a_run_on_the_same_records_ends_in_the_very_same_documents() -> None:
    records = history()
    assert incidents(records, QUESTION) == incidents(records, QUESTION)


def test_incidents_that_were_packed_are_what_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = sorted(incidents(history(), QUESTION), key=lambda each: each.id)
    monkeypatch.setattr("simulator.store.LATELY_CLOSED", 0)
    assert sorted(incidents(history(), QUESTION), key=lambda each: each.id) == expected
    assert any(each.status is IncidentStatus.CLOSED for each in expected)


def days() -> list[ArchivedRecord]:
    """Return a history over three midnights, with nodes that are heard on each day."""
    return history(nodes=3, rounds=220)


def test_a_replay_that_is_resumed_at_any_midnight_ends_as_one_that_was_not(tmp_path: Path) -> None:
    records = days()
    kept: list[datetime] = []
    whole = Replay(QUESTION)

    def keep(midnight: datetime) -> None:
        kept.append(midnight)
        checkpoint.save(whole, tmp_path / f"{len(kept)}", "a question", seen=len(kept))

    whole.run(records, at_midnight=keep)
    expected = list(whole.finish())
    assert len(kept) == 3
    for number, midnight in enumerate(kept, 1):
        resumed = Replay(QUESTION)
        assert checkpoint.load(resumed, tmp_path / f"{number}", "a question") == {"seen": number}
        assert resumed.clock == midnight
        resumed.run(one for one in records if one.arrived_at >= midnight)
        assert sorted(resumed.finish(), key=lambda it: it.id) == sorted(expected, key=lambda it: it.id)
        assert resumed.nodes.counts == whole.nodes.counts


def test_a_kept_replay_is_not_gone_on_with_for_another_question_nor_when_it_is_cut_off(tmp_path: Path) -> None:
    replay = Replay(QUESTION)
    replay.run(history(rounds=1))
    checkpoint.save(replay, tmp_path, "a question")
    with pytest.raises(BadInputError, match="another back-test"):
        checkpoint.load(Replay(QUESTION), tmp_path, "another question")
    (kept,) = tmp_path.iterdir()
    kept.write_bytes(kept.read_bytes()[:-40])
    with pytest.raises(BadInputError, match="begin from the start"):
        checkpoint.load(Replay(QUESTION), tmp_path, "a question")


def test_every_kind_of_document_of_coordinate_is_kept() -> None:
    kept = {name for name, value in vars(MemoryStore()).items() if isinstance(value, dict)}
    assert kept - {"lines"} == set(KINDS)

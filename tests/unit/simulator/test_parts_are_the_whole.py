"""A replay in parts comes to the very same as one replay of all: deeds and their order, ids, counts, costs, remarks."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from functions.ports.policies import Head
from functions.twins.archive import MemoryArchive
from simulator.archive.period import read_records
from simulator.archive.reading import Told
from simulator.coordination import Coordination
from simulator.in_force import Revisions
from simulator.parts import WHOLE, Part, look
from simulator.recorded import Recorded
from simulator.replay import Question, Replay
from simulator.sides import Piece, Side, put_together, replay_part
from tests.tools.envelopes import NOW
from tests.tools.several_clusters import CLUSTERS, archive, heads, in_force, records

UNTIL = NOW + timedelta(days=4)


def side(candidate: Sequence[Head] | None, folder: Path | None = None, revisions: Revisions | None = None) -> Side:
    question = Question(revisions or Revisions(), Recorded(), candidate)
    return Side("asked", question, NOW + timedelta(minutes=7), UNTIL, "a question", folder)


def told(one: Side, part: Part, reader: MemoryArchive) -> Piece | None:
    return replay_part(one, part, reader, lambda _share: None)


def together(one: Side, parts: Sequence[Part], reader: MemoryArchive) -> Piece:
    pieces = [piece for part in parts if (piece := told(one, part, reader)) is not None]
    assert len(pieces) == len(parts)
    return put_together(pieces)


def same(one: Piece, other: Piece) -> bool:
    return one == other and [*one.counts.items()] == [*other.counts.items()]


@pytest.mark.parametrize("seed", range(6))
def test_parts_come_to_what_the_whole_comes_to(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed % 3 == 0:
        monkeypatch.setattr("simulator.archive.period.AHEAD", 2)  # moved lines then arrive behind later ones
    made = heads()
    reader = archive(records(seed), seed, in_force(made) if seed % 2 else ())
    past = Revisions.of(in_force(made))
    asked = side(None if seed % 2 else made, revisions=past)
    whole = together(asked, [WHOLE], reader)
    assert any(deed.acts for deed in whole.deeds), "somebody must act"
    assert {deed.cluster for deed in whole.deeds} == set(CLUSTERS)
    for most in (2, 3, 4):
        parts = look(reader, NOW, UNTIL).parts(most)
        assert len(parts) == min(most, len(CLUSTERS))
        assert same(together(asked, parts, reader), whole)
    by_name_alone = [Part(number, 4) for number in range(4)]
    assert same(together(asked, by_name_alone, reader), whole)


@pytest.mark.parametrize("seed", range(2))
def test_every_document_of_coordinate_and_every_state_of_a_node_is_the_same(seed: int) -> None:
    reader, question = archive(records(seed), seed), Question(candidate=heads())

    def kept(part: Part) -> list[set[object]]:
        replay = Replay(question)
        replay.run(read_records(reader, NOW, UNTIL, Told()), is_mine=part.owns if part.of > 1 else None)
        assert list(replay.finish())
        documents = {(kind, *key, text) for kind, key, text in replay.store.documents()}
        return [{*documents}, {*replay.nodes.states.texts()}, {*replay.rehearsal.started}]

    parts = [kept(Part(number, 3, {name: at for at, name in enumerate(CLUSTERS)})) for number in range(3)]
    for whole, mine in zip(kept(WHOLE), zip(*parts, strict=True), strict=True):
        assert set().union(*mine) == whole
        assert sum(map(len, mine)) == len(whole), "nothing is told by two"


def test_who_is_alive_is_told_by_the_clock_of_all_clusters() -> None:
    mine = records(4)
    late = next(each for each in mine if b'"cluster":"a"' in each.body and b'"node-of' in each.body)
    told = [*mine, late._replace(arrived_at=mine[-1].arrived_at + timedelta(hours=1), id="late")]
    part = Replay(Question(candidate=heads()))
    part.run(told, is_mine=Part(0, 2, {"a": 1, "b.2": 0, "c-3": 0}).owns)
    assert part.nodes.heard["b.2"]
    assert part.nodes.living("b.2", {""}) == {"": 0}


def test_a_minute_is_swept_once_whatever_is_asked_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    swept: list[datetime] = []
    monkeypatch.setattr(Coordination, "sweep", lambda _self, now: swept.append(now))
    replay = Replay(Question(candidate=heads()))
    replay.run(records(0))
    assert list(replay.finish())
    assert swept
    assert len(swept) == len(set(swept))


def test_what_is_told_of_reading_is_told_once() -> None:
    reader = archive(records(5), 5)
    parts = look(reader, NOW, UNTIL).parts(3)
    found = together(side(heads()), parts, reader).told
    assert found.wrong + found.repeated > 0
    assert found == together(side(heads()), [WHOLE], reader).told


def test_parts_are_worth_nothing_once_a_policy_put_itself_in_shadow() -> None:
    asked = side(heads(acts={"at_most": 1, "within": "1h"}))
    reader = archive(records(1), 1)
    parts = look(reader, NOW, UNTIL).parts(3)
    assert None in [told(asked, part, reader) for part in parts]
    assert told(asked, WHOLE, reader) is not None


@pytest.mark.parametrize("stopped", [1, 2])
def test_parts_that_were_stopped_on_any_day_go_on_where_they_were(stopped: int, tmp_path: Path) -> None:
    made = heads()
    reader = archive(records(8, days=3, rounds=3), 8)
    parts = look(reader, NOW, UNTIL).parts(2)
    whole = together(side(made), [WHOLE], reader)
    assert whole.end > NOW + timedelta(days=2)
    asked = side(made, tmp_path)
    until = NOW.replace(hour=0) + timedelta(days=stopped, hours=11)
    for part, end in zip(parts, (until, until + timedelta(days=1)), strict=True):
        cut = Side(asked.name, asked.question, asked.since, end, asked.mark, tmp_path)
        assert told(cut, part, reader) is not None
    resumed = together(asked, parts, reader)
    assert same(resumed, whole)


def test_clusters_are_shared_out_evenly_and_what_was_not_seen_is_somebodys() -> None:
    reader = archive(records(2), 2)
    found = look(reader, NOW, UNTIL)
    assert set(found.weights) == set(CLUSTERS)
    assert found.size == sum(len(body) for body in reader.objects.values())
    weights = {"a": 10, "b": 9, "c": 8, "d": 7}
    shares = type(found)(0, weights).parts(2)[0].shares
    assert shares == {"a": 0, "d": 0, "b": 1, "c": 1}
    body = b'{"schema_version":1,"node":{"cluster":"never-seen"'
    assert sum(part.owns(body) for part in type(found)(0, weights).parts(3)) == 1

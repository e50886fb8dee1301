"""A kept replay goes on with the archive that it was told of; whatever of that has changed since is found out."""

import random
from datetime import timedelta
from pathlib import Path

import pytest

from functions.twins.archive import MemoryArchive
from policies.contract.archive_names import parse_key
from policies.contract.errors import BadInputError
from simulator.archive.behind import Behind
from simulator.parts import WHOLE
from simulator.recorded import Recorded
from simulator.replay import Question
from simulator.sides import Piece, Side, replay_part
from tests.tools.envelopes import NOW
from tests.tools.several_clusters import archive, heads, in_force, records

STOPPED = NOW.replace(hour=0) + timedelta(
    days=1
)  # the last midnight that is kept: nothing comes on the third day before its end
SINCE = NOW + timedelta(minutes=7)
MADE = heads()


def _replayed(reader: MemoryArchive, folder: Path, *, days: int) -> Piece:
    side = Side("asked", Question(recorded=Recorded(), candidate=MADE), SINCE, NOW + timedelta(days=days), "q", folder)
    piece = replay_part(side, WHOLE, reader, lambda _share: None)
    assert piece is not None
    return piece


def _archive() -> MemoryArchive:
    return archive(records(8, days=4, rounds=3), 8, in_force(MADE))


def _told(reader: MemoryArchive, *, behind: bool) -> list[str]:
    names = [(key, parse_key(key)) for key in sorted(reader.objects)]
    return [key for key, name in names if name is not None and (name.first < STOPPED) == behind]


@pytest.mark.parametrize("change", ["gone", "another size", "one more"])
@pytest.mark.parametrize("seed", range(4))
def test_what_was_told_already_must_be_as_it_was(change: str, seed: int, tmp_path: Path) -> None:
    reader = _archive()
    _replayed(reader, tmp_path, days=2)
    key = random.Random(seed).choice(_told(reader, behind=True))
    if change == "one more":
        reader.objects[key[:-41] + "0" * 31 + "1.jsonl.gz"] = reader.objects[key]
    elif change == "gone":
        del reader.objects[key]
    else:
        reader.objects[key] += b" "
    with pytest.raises(BadInputError, match="has changed since"):
        _replayed(reader, tmp_path, days=4)


def test_what_comes_later_may_change(tmp_path: Path) -> None:
    reader = _archive()
    _replayed(reader, tmp_path, days=2)
    gone = _told(reader, behind=False)[-1]
    del reader.objects[gone]
    resumed = _replayed(reader, tmp_path, days=4)
    assert resumed == _replayed(reader, tmp_path / "anew", days=4)


@pytest.mark.parametrize("stops", [(), (1,), (1, 2), (2, 3)])
def test_the_midnights_on_the_way_make_no_difference(stops: tuple[int, ...]) -> None:
    midnights = [NOW.replace(hour=0) + timedelta(days=each) for each in (*stops, 4)]
    reader = _archive()
    behind = Behind(reader, SINCE)
    assert [behind.at(each) for each in midnights][-1] == Behind(reader, SINCE).at(midnights[-1])

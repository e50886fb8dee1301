"""A period comes out in order and each record once, however it was written and whatever broke."""

import gzip
import random
from datetime import timedelta

import pytest

from functions.twins.archive import MemoryArchive
from policies.contract.archive import ArchivedRecord, format_record
from policies.contract.archive_names import EVENTS, INCIDENTS, object_key
from simulator.archive.period import objects_of, read_happenings, read_records
from simulator.archive.reading import MOST_KEPT, Told
from tests.tools.archives import BEGIN, happening, record, write, write_happenings

LATER = BEGIN + timedelta(days=2)


def read(archive: MemoryArchive, told: Told | None = None) -> list[ArchivedRecord]:
    return list(read_records(archive, BEGIN, LATER, told or Told()))


@pytest.mark.parametrize("seed", range(5))
def test_however_a_period_was_cut_repeated_and_mixed_it_reads_the_same(seed: int) -> None:
    chance = random.Random(seed)
    records = [record(number, shard=number % 3) for number in range(200)]
    archive = MemoryArchive()
    for _writing in range(3):
        for shard in range(3):
            mine = [one for one in records if int(one.id[8:20]) == shard]
            while mine:
                cut = chance.randint(1, 30)
                batch, mine = mine[:cut], mine[cut:]
                chance.shuffle(batch)
                write(archive, batch, f"faults-{shard}")
    told = Told()
    assert read(archive, told) == records
    assert told.repeated == told.lines - 200 > 100
    assert told.wrong == 0


def test_an_object_is_not_opened_before_its_first_line_is_due() -> None:
    opened: list[str] = []

    class Watched(MemoryArchive):
        def read(self, key: str, start: int, length: int) -> bytes:
            opened.append(key)
            return super().read(key, start, length)

    archive = Watched()
    for begin in range(0, 100, 10):
        write(archive, [record(number) for number in range(begin, begin + 10)])
    entries = read_records(archive, BEGIN, LATER, Told())
    for _ in range(15):
        next(entries)
    assert len(opened) == 2


def test_an_hour_that_nobody_asks_for_stays_closed_and_its_edge_is_cut_to_the_microsecond() -> None:
    archive = MemoryArchive()
    write(archive, [record(number) for number in (0, 30, 31, 3629, 3630)])
    since, until = BEGIN + timedelta(seconds=31), BEGIN + timedelta(seconds=3630)
    assert len(list(objects_of(archive, EVENTS, since, until))) == 1
    assert list(read_records(archive, since, until, Told())) == [record(31), record(3629)]


def test_of_two_the_one_that_knows_where_its_node_is_is_kept() -> None:
    for order in ((1, 2), (2, 1)):
        archive = MemoryArchive()
        for one in order:
            write(archive, [record(0)._replace(place=("nn-1",) if one == 1 else ())], f"s{one}")
        assert [one.place for one in read(archive)] == [("nn-1",)]


def test_an_object_that_is_cut_off_is_told_and_gives_what_it_has() -> None:
    archive = MemoryArchive()
    [key] = write(
        archive,
        [
            record(number, body=b'{"x":"%s"}' % random.Random(number).randbytes(40).hex().encode())
            for number in range(30, 60)
        ],
    )
    write(archive, [record(45, shard=1)], "faults-1")
    archive.objects[key] = archive.objects[key][:-400]
    told = Told()
    found = read(archive, told)
    assert record(30).id in {one.id for one in found}
    assert record(45, shard=1) in found
    assert len(found) < 31
    assert [bad.object for bad in told.bad] == [key] * told.wrong
    assert "cut off" in str(told.bad[0])


@pytest.mark.parametrize("body", [b"", b"no gzip", gzip.compress(b"", mtime=0)[:5]])
def test_an_object_that_is_none_is_told_and_the_rest_goes_on(body: bytes) -> None:
    archive = MemoryArchive()
    write(archive, [record(1)])
    broken = object_key(EVENTS, BEGIN, "broken", b"")
    archive.put(broken, body)
    told = Told()
    assert read(archive, told) == [record(1)]
    assert [bad.object for bad in told.bad] == [broken]


def test_damage_in_the_middle_costs_the_rest_of_that_object() -> None:
    archive = MemoryArchive()
    [key] = write(archive, [record(number) for number in range(30, 60)])
    body = bytearray(archive.objects[key])
    body[len(body) // 2] ^= 0xFF
    archive.objects[key] = bytes(body)
    write(archive, [record(61)], "faults-1")
    told = Told()
    assert read(archive, told)[-1] == record(61)
    assert told.wrong


def test_bad_lines_are_counted_and_only_the_first_are_kept() -> None:
    archive = MemoryArchive()
    lines = b"junk\n" * (MOST_KEPT + 5) + format_record(record(1))
    archive.put(object_key(EVENTS, BEGIN, "x", lines), gzip.compress(lines))
    told = Told()
    assert read(archive, told) == [record(1)]
    assert (told.wrong, len(told.bad)) == (MOST_KEPT + 5, MOST_KEPT)


def test_objects_that_were_put_together_are_read_to_the_end() -> None:
    archive = MemoryArchive()
    [key] = write(archive, [record(1)])
    archive.objects[key] += gzip.compress(format_record(record(2)))
    assert read(archive) == [record(1), record(2)]


def out_of_order() -> MemoryArchive:
    lines = format_record(record(2)) + format_record(record(1))
    archive = MemoryArchive()
    archive.put(object_key(EVENTS, BEGIN, "x", lines), gzip.compress(lines))
    return archive


def test_lines_of_an_object_that_somebody_moved_are_put_back() -> None:
    told = Told()
    assert [one.id for one in read(out_of_order(), told)] == [record(1).id, record(2).id]
    assert told.bad == []


def test_a_line_that_stands_far_behind_a_later_one_is_read_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simulator.archive.period.AHEAD", 1)
    told = Told()
    assert {one.id for one in read(out_of_order(), told)} == {record(1).id, record(2).id}
    assert [bad.line for bad in told.bad] == [2]


def test_versions_of_documents_are_read_the_same_way() -> None:
    archive = MemoryArchive()
    told = [happening(number, version) for number in range(3) for version in (1, 2)]
    write_happenings(archive, told)
    write_happenings(archive, told[2:])
    assert list(read_happenings(archive, INCIDENTS, BEGIN, LATER, Told())) == told

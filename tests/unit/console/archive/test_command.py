"""`relight archive` says what is there, what is missing, and copies it."""

import argparse
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from console.archive.whereabouts import reader_of
from console.commands import archive as command
from console.main import main
from functions.adapters.archive_folder import FolderArchive
from functions.ports.archive import ArchiveReader
from functions.twins.archive import MemoryArchive
from policies.contract.archive import ArchivedRecord, Happening
from policies.contract.archive_names import EVENTS, INCIDENTS, POLICIES
from policies.contract.envelope import CANARY_NODE
from policies.contract.errors import BadInputError, DependencyError
from tests.tools.archives import write, write_happenings

DAY = datetime(2026, 11, 29, tzinfo=UTC)
NEXT = DAY + timedelta(days=1)


def record(at: datetime, *seqs: int, lane: str = "faults", node: str = "i-1", **more: Any) -> ArchivedRecord:  # noqa: ANN401 - JSON
    events = [{"seq": seq, "kind": "gpu.xid" if seq % 2 else "gpu.lost"} for seq in seqs]
    envelope = {"node": {"cluster": "c", "name": node, "instance_id": node}, "spool_id": "s", "events": events, **more}
    return ArchivedRecord(at, lane, f"{at.isoformat()}-{node}-{lane}", json.dumps(envelope).encode())


def told(at: datetime, what: Any, document: dict[str, Any]) -> Happening:  # noqa: ANN401 - one of the words
    return Happening(at, what, f"{what}-{document}", document)


@pytest.fixture
def archive() -> MemoryArchive:
    made = MemoryArchive()
    hour = timedelta(hours=1)
    stream = [
        record(DAY, 5, 6),
        record(DAY + hour, first_seq=7),
        record(DAY + 2 * hour, node=CANARY_NODE),
        ArchivedRecord(DAY + 3 * hour, "faults", "junk", b"junk"),
        record(NEXT, 10),
        record(NEXT + hour, 10, 11),
        record(NEXT + 2 * hour, first_seq=14),
        record(NEXT + hour, 0, node="i-2"),
    ]
    write(made, stream)
    write(made, stream[:1], "again")
    write(made, [record(NEXT + 3 * hour, 8, lane="overflow")], "overflow")
    done = {"incident": "1", "rung": "isolate", "attempt": 1, "turn": 0, "report": {"status": "done"}}
    write_happenings(
        made, [told(DAY, "incident", {"id": "1", "version": 1}), told(NEXT, "incident", {"id": "1", "version": 2})]
    )
    begun = {**done, "rung": "replace_node", "report": None}
    acts = [{**done, "report": None}, done, begun, {**begun, "report": {"status": "failed"}}]
    write_happenings(made, [told(NEXT, "act", act) for act in acts], INCIDENTS)
    write_happenings(made, [told(DAY, "policy", {"revision": 1}), told(DAY, "in_force", {"revision": 1})], POLICIES)
    return made


def run(archive: ArchiveReader, *words: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.perform(parser.parse_args(words), "s3://archive", archive)


def test_each_day_is_counted(archive: MemoryArchive, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(archive, "stats", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    first, second = shown["days"]
    counted = ("records", "events", "heartbeats", "canaries", "junk", "nodes", "overflow", "repeated", "sent_again")
    assert [first[name] for name in counted] == [4, 2, 1, 1, 1, 1, 0, 1, 0]
    assert [second[name] for name in counted] == [5, 4, 1, 0, 0, 2, 1, 0, 1]
    assert (first["missing"], second["missing"]) == (0, 4), (
        "7 and 9 between two that came, 12 and 13 before a heartbeat"
    )
    assert second["kinds"] == {"gpu.lost": 3, "gpu.xid": 1}
    assert [(day["incidents"], day["acts"], day["policies"]) for day in (first, second)] == [(1, 0, 1), (0, 1, 0)]
    assert (first["first"], first["last"]) == ("2026-11-29T00:00:00.000000Z", "2026-11-29T03:00:00.000000Z")
    assert shown["bytes"] == sum(map(len, archive.objects.values()))
    assert first["objects"] + second["objects"] == len(archive.objects)


def test_only_the_last_days_are_counted_when_so_wished(
    archive: MemoryArchive, capsys: pytest.CaptureFixture[str]
) -> None:
    run(archive, "stats", "--json", "--days", "1")
    shown = json.loads(capsys.readouterr().out)
    assert [day["day"] for day in shown["days"]] == ["2026-11-30"]


def test_a_person_sees_a_table_and_how_far_it_is(archive: MemoryArchive, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(archive, "stats") == 0
    shown = capsys.readouterr()
    assert "2026-11-30" in shown.out
    beside = "9 records, 1 came by overflow, 1 are no envelope, 1 were archived twice; 1 events were sent again"
    assert beside in " ".join(shown.out.split())
    assert "$ a month" in shown.out
    assert "2026-11-29 (1 of 2): 4 records, 2 events" in shown.err


def test_what_cannot_be_read_is_told_and_the_rest_is_counted(
    archive: MemoryArchive, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = min(key for key in archive.objects if key.startswith("events/"))
    archive.objects[broken] = archive.objects[broken][:20]
    assert run(archive, "stats") == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "cannot be read: events/" in shown
    assert "2026-11-30 4" in shown


def test_an_empty_archive_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(MemoryArchive(), "stats") == 0
    assert "holds nothing yet" in capsys.readouterr().out


def test_a_pull_copies_once_and_goes_on_where_it_was_cut(
    archive: MemoryArchive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = dict(archive.objects)
    lost = sorted(whole)[2]
    archive.read, read = (lambda key, *at: b"" if key == lost else read(key, *at)), archive.read  # type: ignore[method-assign]
    with pytest.raises(DependencyError, match="run it again"):
        run(archive, "pull", str(tmp_path))
    archive.read = read  # type: ignore[method-assign]
    assert run(archive, "pull", str(tmp_path), "--json") == 0
    assert json.loads(capsys.readouterr().out)["there"] < len(whole)
    assert run(archive, "pull", str(tmp_path)) == 0
    assert f"0 objects copied (0 B), {len(whole)} were there already" in capsys.readouterr().out
    copied = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.rglob("*.gz")}
    assert copied == whole
    assert list(tmp_path.rglob("*.part")) == []
    half = tmp_path / lost  # by whatever else copied it before
    half.write_bytes(whole[lost][:10])
    assert run(archive, "pull", str(tmp_path)) == 0
    assert half.read_bytes() == whole[lost]


def test_what_was_pulled_reads_as_the_archive_does(
    archive: MemoryArchive, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(archive, "stats", "--json")
    before = json.loads(capsys.readouterr().out)
    run(archive, "pull", str(tmp_path), "--json")
    capsys.readouterr()
    run(FolderArchive(tmp_path), "stats", "--json")
    assert json.loads(capsys.readouterr().out) == before


@pytest.mark.parametrize(
    "words",
    [
        "archive stats nowhere",
        "archive pull past --from nowhere",
        "policy backtest --events nowhere",
        "policy record 4be1 --events nowhere",
        "policy report --events nowhere",
        "checkpoints inspect nowhere",
    ],
)
def test_a_folder_that_is_not_there_is_asked_wrongly_everywhere(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """1 would be an answer: too many new acts, lines that cannot be read, no checkpoint that is complete."""
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 2
    assert "nowhere is no folder" in capsys.readouterr().err


def test_a_folder_that_is_none_is_told(tmp_path: Path) -> None:
    assert isinstance(reader_of(str(tmp_path), None), FolderArchive)
    with pytest.raises(BadInputError, match="is no folder"):
        reader_of(str(tmp_path / "none"), None)


@pytest.mark.parametrize("place", ["s3://past/of/ours", "s3://past/of/ours/"])
def test_an_archive_below_a_prefix_is_read_there_and_nowhere_else(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket="past")
        for prefix, day in (("of/ours/", DAY), ("", NEXT)):
            made = MemoryArchive()
            write(made, [record(day, 1)])
            for key, body in made.objects.items():
                client.put_object(Bucket="past", Key=f"{prefix}{key}", Body=body)
        assert list(reader_of(place, None).days(EVENTS)) == [DAY.date()]
        assert list(reader_of("s3://past", None).days(EVENTS)) == [NEXT.date()]

"""Several processes come to the account that one comes to, and leave nothing running, however they end."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from multiprocessing import active_children
from pathlib import Path

import pytest

from functions.adapters.archive_folder import FolderArchive
from functions.ports.archive import ArchiveReader
from functions.ports.policies import Head
from policies.contract.archive import ArchivedRecord
from policies.contract.errors import DependencyError
from simulator.backtest import Asked, Report, backtest, read_past
from simulator.workers import Opener, WorkerError
from tests.tools.envelopes import NOW
from tests.tools.openers import DyingArchive, broken, killed, refused
from tests.tools.several_clusters import archive, heads, in_force, records


def asked(reader: ArchiveReader, candidate: Sequence[Head], **more: object) -> Asked:
    return replace(Asked(reader, "an archive", candidate, until=NOW + timedelta(days=4)), **more)  # type: ignore[arg-type]


def report(question: Asked) -> Report:
    return backtest(question, read_past(question))


def in_folder(folder: Path, told: Sequence[ArchivedRecord]) -> FolderArchive:
    target = FolderArchive(folder)
    for key, body in archive(told, 0).objects.items():
        target.put(key, body)
    return target


def test_both_sides_side_by_side_come_to_what_they_come_to_one_after_the_other() -> None:
    reader = archive(records(3), 3, in_force(heads(do=["isolate"])))
    question = asked(reader, heads(), against="current")
    shares: list[tuple[str, float]] = []
    both = backtest(replace(question, jobs=2), read_past(question), lambda *told: shares.append(told))
    assert both == report(question)
    assert both.notes == []
    assert {name for name, share in shares if share == 1.0} == {"asked", "current"}
    assert {each.difference for each in both.matters} - {"same"}
    assert active_children() == []


def test_clusters_that_a_policy_in_shadow_concerns_are_told_again_in_one_process() -> None:
    question = asked(archive(records(1), 1), heads(acts={"at_most": 1, "within": "1h"}))
    found = report(replace(question, jobs=2))
    assert found == report(question)
    assert "in one process" in "".join(found.notes)
    assert active_children() == []


def test_a_process_that_was_killed_ends_the_others_and_the_rest_is_told_when_it_is_asked_again(tmp_path: Path) -> None:
    folder = in_folder(tmp_path / "archive", records(8, days=3, rounds=3))
    opener: Opener = partial(DyingArchive, tmp_path / "archive", "2026/03/03")
    question = asked(folder, heads(), jobs=2, resume=tmp_path / "kept", opener=opener)
    with pytest.raises(WorkerError, match=r"signal 9.*memory"):
        report(question)
    assert active_children() == []
    assert list((tmp_path / "kept").rglob("replay.jsonl.gz"))
    assert report(question) == report(replace(question, jobs=1, resume=None))


@pytest.mark.parametrize(
    ("opener", "error", "told"), [(refused, DependencyError, "See who you are"), (broken, WorkerError, "status 1")]
)
def test_what_a_process_meets_is_told_and_ends_all_of_them(opener: Opener, error: type[Exception], told: str) -> None:
    question = asked(archive(records(0), 0), heads(), jobs=2, opener=opener)
    with pytest.raises(error, match=told):
        report(question)
    assert active_children() == []


def test_a_small_archive_is_told_in_one_process() -> None:
    question = asked(archive(records(0), 0), heads(), jobs=2, small=10**6, opener=killed)
    assert report(question).matters


def test_a_process_that_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_process: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("multiprocessing.context.SpawnProcess.start", refuse)
    with pytest.raises(WorkerError, match=r"temporarily unavailable.*--jobs 1"):
        report(asked(archive(records(0), 0), heads(), jobs=2))

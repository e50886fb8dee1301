import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.host.mounts import topic as module
from agent.host.mounts.topic import MountTopic
from agent.prober.client import Prober
from agent.prober.topics import TOPICS
from tests.tools.hanging_mount import HangingMount, mounted
from tests.tools.sources import eventually

ROOT = Path(__file__).resolve().parents[5]


class _Gate:
    """A probe that comes back only when let: for paths that hang."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.asked: list[str] = []

    def __call__(self, path: str) -> dict[str, Any]:
        self.asked.append(path)
        if path.startswith("/hangs"):
            self.opened.wait(30)
        if path == "/stale":
            raise OSError(116, "Stale file handle")
        return {"usage": [1, 1, 1, 1, 1]}


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Gate]:
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.05)
    made = _Gate()
    yield made
    made.opened.set()


def come_back(topic: MountTopic, path: str, *others: str) -> dict[str, Any]:
    """Ask until *path* has come back, however long a busy machine takes to begin a thread; return that answer."""
    answers: list[dict[str, Any]] = []

    def asked() -> bool:
        answers.append(topic.answer({"paths": [*others, path]}))
        return "out" not in answers[-1][path]

    eventually(asked)
    return answers[-1]


def test_one_that_hangs_holds_up_no_other_and_says_for_how_long(gate: _Gate) -> None:
    topic = MountTopic(probe=gate)
    first, second = (come_back(topic, "/well", "/hangs") for _ in range(2))
    assert first["/well"]["usage"] == second["/well"]["usage"] == [1, 1, 1, 1, 1]
    assert 0 < first["/hangs"]["out"] < second["/hangs"]["out"]


def test_one_that_hangs_is_asked_once_until_it_comes_back(gate: _Gate) -> None:
    topic = MountTopic(probe=gate)
    for _ in range(3):
        topic.answer({"paths": ["/hangs", "/hangs"]})
    eventually(lambda: gate.asked == ["/hangs"])
    gate.opened.set()
    assert "usage" in come_back(topic, "/hangs")["/hangs"]
    topic.answer({"paths": ["/hangs"]})
    eventually(lambda: len(gate.asked) > 1)


def test_what_the_call_came_back_with_is_told_by_its_name(gate: _Gate) -> None:
    assert come_back(MountTopic(probe=gate), "/stale")["/stale"]["error"] == "ESTALE"


def test_there_are_only_so_many_threads(gate: _Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 3)
    answer = MountTopic(probe=gate).answer({"paths": [f"/hangs/{number}" for number in range(5)]})
    assert ["out" in one for one in answer.values()] == [True, True, True, False, False]
    eventually(lambda: len(gate.asked) == 3)


@pytest.fixture
def prober() -> Iterator[Prober]:
    made = Prober({"mounts": TOPICS["mounts"]}, environ={"PYTHONPATH": str(ROOT)})
    yield made
    made.close()


def test_in_the_prober_real_file_systems_answer(prober: Prober, tmp_path: Path) -> None:
    here, nothing = str(tmp_path), str(tmp_path / "nothing")
    answer = answered(prober, here, nothing)
    size, used, available, inodes, inodes_available = answer[here]["usage"]
    assert 0 < available <= size - used
    assert 0 <= inodes_available <= inodes
    assert answer[nothing]["error"] == "ENOENT"


def answered(prober: Prober, *paths: str, but: Sequence[str] = ()) -> dict[str, Any]:
    """Ask until these paths have all come back, those of *but* aside; return that answer."""
    answers: list[dict[str, Any]] = []

    def asked() -> bool:
        answers.append(prober.ask("mounts", {"paths": [*paths, *but]}, 60))
        return not any("out" in answers[-1][path] for path in paths)

    eventually(asked)
    return answers[-1]


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[tuple[str, HangingMount]]:
    try:
        with mounted(tmp_path) as mount:
            yield str(tmp_path), mount
    except OSError as error:
        pytest.skip(f"no file system can be mounted here: {error}")


def test_a_real_mount_whose_server_is_gone_costs_no_answer_and_is_seen_to_come_back(
    hanging: tuple[str, HangingMount], prober: Prober
) -> None:
    path, mount = hanging
    for _ in range(2):
        answer = answered(prober, "/", but=[path])
        assert "usage" in answer["/"]
        assert answer[path]["out"] > 0
    mount.answers.set()
    eventually(lambda: "usage" in prober.ask("mounts", {"paths": [path]}, 60)[path])

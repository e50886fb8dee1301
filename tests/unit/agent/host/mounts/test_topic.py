import threading
from collections.abc import Iterator
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


def test_one_that_hangs_holds_up_no_other_and_says_for_how_long(gate: _Gate) -> None:
    topic = MountTopic(probe=gate)
    first, second = (topic.answer({"paths": ["/hangs", "/well"]}) for _ in range(2))
    assert first["/well"]["usage"] == second["/well"]["usage"] == [1, 1, 1, 1, 1]
    assert 0 < first["/hangs"]["out"] < second["/hangs"]["out"]


def test_one_that_hangs_is_asked_once_until_it_comes_back(gate: _Gate) -> None:
    topic = MountTopic(probe=gate)
    for _ in range(3):
        topic.answer({"paths": ["/hangs", "/hangs"]})
    assert gate.asked == ["/hangs"]
    gate.opened.set()
    eventually(lambda: "usage" in topic.answer({"paths": ["/hangs"]})["/hangs"])
    topic.answer({"paths": ["/hangs"]})
    assert len(gate.asked) > 1


def test_what_the_call_came_back_with_is_told_by_its_name(gate: _Gate) -> None:
    assert MountTopic(probe=gate).answer({"paths": ["/stale"]})["/stale"]["error"] == "ESTALE"


def test_there_are_only_so_many_threads(gate: _Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 3)
    answer = MountTopic(probe=gate).answer({"paths": [f"/hangs/{number}" for number in range(5)]})
    assert ["out" in one for one in answer.values()] == [True, True, True, False, False]
    assert len(gate.asked) == 3


@pytest.fixture
def prober() -> Iterator[Prober]:
    made = Prober({"mounts": TOPICS["mounts"]}, environ={"PYTHONPATH": str(ROOT)})
    yield made
    made.close()


def test_in_the_prober_real_file_systems_answer(prober: Prober, tmp_path: Path) -> None:
    answer = prober.ask("mounts", {"paths": [str(tmp_path), str(tmp_path / "nothing")]}, 20)
    size, used, available, inodes, inodes_available = answer[str(tmp_path)]["usage"]
    assert 0 < available <= size - used
    assert 0 <= inodes_available <= inodes
    assert answer[str(tmp_path / "nothing")]["error"] == "ENOENT"


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
        answer = prober.ask("mounts", {"paths": ["/", path]}, 20)
        assert "usage" in answer["/"]
        assert answer[path]["out"] > 0
    mount.answers.set()
    eventually(lambda: "usage" in prober.ask("mounts", {"paths": [path]}, 20)[path])

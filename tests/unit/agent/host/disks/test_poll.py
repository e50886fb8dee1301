from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.host.disks.mountinfo import mounts_of_node
from agent.host.disks.poll import DiskPoll
from agent.prober.client import ProbeFailedError
from tests.tools.polling import bench, measure

SCRATCH = "1 1 259:1 / /scratch rw - ext4 /dev/nvme1n1 rw"
DATA = "2 1 259:2 / /data rw - xfs /dev/nvme2n1 rw"
FULL, EMPTY = [100 << 30, 99 << 30, 1 << 30, 1000, 900], [100 << 30, 1 << 30, 99 << 30, 1000, 900]


class Node:
    """Two disks; how full each is, and what answers for it, is as a test says."""

    def __init__(self, folder: Path) -> None:
        (folder / "1").mkdir()
        (folder / "1/mountinfo").write_text(f"{SCRATCH}\n{DATA}\n")
        self.answers: dict[str, dict[str, Any]] = {
            "scratch": {"usage": EMPTY, "device": "259:1"},
            "data": {"usage": EMPTY, "device": "259:2"},
        }
        self.error: Exception | None = None
        self.poll = DiskPoll(mounts_of_node(folder), self._ask, folder, folder / "fstab")

    def _ask(self, paths: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        if self.error:
            raise self.error
        return {path: self.answers[path.rpartition("/")[2]] for path in paths}


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_what_fills_is_told_and_what_is_emptied_is_over(node: Node) -> None:
    with bench() as work:
        assert work.poll(node.poll, 0) == []
        node.answers["scratch"]["usage"] = FULL
        (event,) = work.poll(node.poll, 30)
        assert (event["kind"], event["severity"]) == ("storage.full", "error")
        assert event["attributes"] == {
            "mount": "/scratch",
            "device": "nvme1n1",
            "resource": "bytes",
            "used_percent": 99.0,
            "free_bytes": 1 << 30,
        }
        node.answers["scratch"]["usage"] = EMPTY
        told = [event for second in (60, 90, 120) for event in work.poll(node.poll, second)]
        assert [event["kind"] for event in told] == ["condition.cleared"]


def test_each_file_system_in_memory_is_one_of_its_own(node: Node, tmp_path: Path) -> None:
    tmpfs = [f"{n} 1 0:{n} / {path} rw - tmpfs tmpfs rw" for n, path in enumerate(("/dev/shm", "/run", "/tmp"), 27)]
    (tmp_path / "1/mountinfo").write_text("\n".join(tmpfs))
    node.answers = {name: {"usage": FULL, "device": f"0:{n}"} for n, name in enumerate(("shm", "run", "tmp"), 27)}
    with bench() as work:
        told = work.poll(node.poll, 0)
    assert [event["attributes"]["mount"] for event in told] == ["/dev/shm", "/run", "/tmp"]


def test_a_full_disk_that_does_not_answer_any_more_is_not_well(node: Node) -> None:
    node.answers["scratch"]["usage"] = FULL
    with bench() as work:
        work.poll(node.poll, 0)
        node.answers["scratch"] = {"out": 31.0}
        assert [event for second in range(30, 301, 30) for event in work.poll(node.poll, second)] == []


def test_a_path_that_leads_elsewhere_says_nothing_of_the_disk(node: Node) -> None:
    node.answers["scratch"] = {"usage": FULL, "device": "0:99"}  # hidden by a mount of the agent's own
    assert measure(node.poll) == []


@pytest.mark.parametrize("answer", [{"error": "EACCES"}, {"usage": FULL, "device": "0:99"}])
def test_where_no_disk_is_reached_that_is_not_measured(node: Node, answer: dict[str, Any]) -> None:
    node.answers = {"scratch": answer, "data": answer}
    (reading,) = measure(node.poll)
    assert reading.kinds == {"storage.full"}  # type: ignore[union-attr]


def test_a_prober_that_does_not_answer_stops_not_what_the_list_of_mounts_says(node: Node, tmp_path: Path) -> None:
    node.error = ProbeFailedError("the prober ended")
    (tmp_path / "1/mountinfo").write_text(f"{SCRATCH},emergency_ro\n")
    with bench() as work:
        assert [event["kind"] for event in work.poll(node.poll, 0)] == ["storage.read_only"]

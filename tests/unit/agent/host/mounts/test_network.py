from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.host.disks.mountinfo import mounts_of_node
from agent.host.mounts.network import STALLS, judge, server_of
from agent.host.mounts.poll import NetworkMountPoll
from agent.host.mounts.topic import TOO_MANY
from agent.polls.reading import NotMeasured
from agent.prober.client import ProbeFailedError, ProbeHungError
from tests.tools.mounts import mount as on
from tests.tools.polling import bench, measure

EFS = "1 1 0:61 / /home rw - nfs4 fs-0a.efs.us-east-1.amazonaws.com:/ rw,vers=4.1"
FSX = "2 1 0:50 / /fsx rw - lustre 10.0.1.7@tcp:/abcdbmv rw,flock,lazystatfs"
DISK = "3 1 259:1 / / rw - xfs /dev/nvme0n1p1 rw"
AUTO = "4 1 0:70 / /net rw - autofs /etc/auto.net rw,fd=5"


class Node:
    """A node whose mounts and their answers are as a test says."""

    def __init__(self, folder: Path, *lines: str) -> None:
        (folder / "1").mkdir()
        (folder / "1/mountinfo").write_text("\n".join(lines) + "\n")
        self.answers: dict[str, dict[str, Any]] = {}
        self.error: Exception | None = None
        self.poll = NetworkMountPoll(mounts_of_node(folder), self._ask)

    def _ask(self, paths: Sequence[str]) -> Mapping[str, Mapping[str, Any]]:
        if self.error:
            raise self.error
        return {path: self.answers.get(path.rpartition("/")[2], {"usage": [1, 1, 1, 1, 1]}) for path in paths}


@pytest.mark.parametrize(
    ("mount", "stalled", "recovered", "server"),
    [
        (EFS, "storage.nfs_stalled", "storage.nfs_recovered", "fs-0a.efs.us-east-1.amazonaws.com"),
        (FSX, "storage.lustre_stalled", "storage.lustre_recovered", "10.0.1.7@tcp"),
    ],
)
def test_a_server_that_stops_answering_is_told_and_so_is_its_return(
    tmp_path: Path, mount: str, stalled: str, recovered: str, server: str
) -> None:
    node, name = Node(tmp_path, mount, DISK), on(mount).path.strip("/")
    with bench() as work:
        told = []
        for second in range(0, 31, 5):
            node.answers[name] = {"out": second + 0.5}
            told += work.poll(node.poll, second)
        assert [event["kind"] for event in told] == [stalled]
        assert told[0]["attributes"] | {"server": server, "mount": f"/{name}"} == told[0]["attributes"]
        assert told[0]["component"] == {"type": "mount"}
        node.answers.clear()
        told = [event for second in range(35, 71, 5) for event in work.poll(node.poll, second)]
        assert [(event["kind"], event["attributes"]["of"]) for event in told] == [(recovered, stalled)]


def test_a_slow_answer_is_no_stall(tmp_path: Path) -> None:
    node = Node(tmp_path, EFS)
    node.answers["home"] = {"out": 14.9}
    assert measure(node.poll) == []


@pytest.mark.parametrize("error", ["ESTALE", "EIO", "ETIMEDOUT", "ESHUTDOWN"])
def test_a_mount_that_answers_that_it_is_gone_is_a_stall(error: str) -> None:
    reading = judge(on(EFS), out=None, error=error)
    assert reading is not None
    assert reading.sighting.attributes["error"] == error


@pytest.mark.parametrize("error", ["EACCES", "EPERM", "ENOENT"])
def test_what_this_user_may_not_see_is_no_fault_of_the_server(error: str) -> None:
    assert judge(on(EFS), out=None, error=error) is None


def test_while_the_prober_does_not_answer_nothing_is_known(tmp_path: Path) -> None:
    node = Node(tmp_path, EFS)
    node.answers["home"] = {"out": 20.0}
    with bench() as work:
        assert len(work.poll(node.poll, 0)) == 1
        for error in (ProbeHungError("mounts", 0.0), ProbeFailedError("the prober ended")):
            node.error = error
            assert all(isinstance(one, NotMeasured) for one in measure(node.poll))
            assert work.poll(node.poll, 60) == []


def test_one_that_was_not_asked_is_not_well(tmp_path: Path) -> None:
    node = Node(tmp_path, EFS)
    node.answers["home"] = {"error": TOO_MANY}
    assert measure(node.poll) == [NotMeasured(STALLS)]


def test_only_mounts_of_servers_are_asked(tmp_path: Path) -> None:
    node = Node(tmp_path, DISK, AUTO)
    node.error = AssertionError("nobody is to be asked")
    assert measure(node.poll) == []


@pytest.mark.parametrize(
    ("source", "server"), [("[fe80::1]:/x", "fe80::1"), ("127.0.0.1:/", "127.0.0.1"), ("strange", "strange")]
)
def test_the_server_is_what_stands_before_the_path(source: str, server: str) -> None:
    assert server_of(on(f"1 1 0:61 / /x rw - nfs {source} rw")) == server

"""The whole way on a real mount: list, prober, topic, judge, event. Only what the list calls it is made up: nfs4."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.host.disks.mountinfo import mounts_of_node
from agent.host.mounts import network
from agent.host.mounts.poll import NetworkMountPoll
from agent.host.sources import ask_prober
from agent.prober.client import Prober
from agent.prober.topics import TOPICS
from tests.tools.hanging_mount import HangingMount, mounted
from tests.tools.polling import Bench, bench
from tests.tools.sources import eventually

ROOT = Path(__file__).resolve().parents[5]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[HangingMount]:
    folder = tmp_path / "served"
    folder.mkdir()
    (tmp_path / "proc/1").mkdir(parents=True)
    (tmp_path / "proc/1/root").symlink_to("/")
    (tmp_path / "proc/1/mountinfo").write_text(f"1 1 0:61 / {folder} rw - nfs4 fs-0a.efs:/ rw,vers=4.1\n")
    try:
        with mounted(folder) as mount:
            yield mount
    except OSError as error:
        pytest.skip(f"no file system can be mounted here: {error}")


@pytest.fixture
def prober() -> Iterator[Prober]:
    made = Prober({"mounts": TOPICS["mounts"]}, environ={"PYTHONPATH": str(ROOT)})
    yield made
    made.close()


def _told(work: Bench, poll: NetworkMountPoll, began: float, kind: str) -> bool:
    events: list[dict[str, Any]] = work.poll(poll, time.monotonic() - began)
    return kind in [event["kind"] for event in events]


def test_a_server_that_is_gone_is_told_within_seconds_and_so_is_its_return(
    server: HangingMount, prober: Prober, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "STALLED_SECONDS", 1.0)
    poll = NetworkMountPoll(mounts_of_node(tmp_path / "proc"), ask_prober(prober))
    began = time.monotonic()
    with bench() as work:
        eventually(lambda: _told(work, poll, began, "storage.nfs_stalled"))
        server.answers.set()
        eventually(lambda: _told(work, poll, began, "storage.nfs_recovered"))

import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from agent.events import EventMaker
from agent.main import utc_now
from agent.service_logs import ServiceLogSource, program_of
from agent.spool.spool import Spool
from policies.contract.vocabulary import Source
from tests.tools.sources import NODE, eventually, following, started, waiting

FATAL = (
    "[Jan 31 2026 12:00:00] [ERROR] [tid 841] detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id "
    "00000000:b3:00.0 physical id 3 port 61"
)


def read(path: Path, folder: Path, *, more: str) -> list[dict[str, Any]]:
    """Follow *path* from a new spool, write *more* to it once that has begun, and return the events."""
    begun, was_there = threading.Event(), path.exists()

    def clock() -> datetime:
        begun.set()  # first asked when it has been seen whether there is a file
        return utc_now()

    def begin(spool: Spool, stop: threading.Event) -> threading.Thread:
        maker = EventMaker(NODE, Source.JOURNAL, lambda _seen: None)
        return started(ServiceLogSource(path, spool, maker, clock=clock).run, stop)

    with following(folder, begin) as spool:
        eventually(lambda: spool.progress(f"journal:{path}") is not None if was_there else begun.is_set())
        with path.open("a") as file:
            file.write(more)
        eventually(lambda: spool.waiting > 0)
        return waiting(spool)


@pytest.mark.parametrize(
    ("name", "line", "kind"),
    [
        ("fabricmanager.log", FATAL, "nvswitch.sxid"),
        ("nvidia-imex.log", "[Jan 31 2026 12:00:00] [ERROR] [tid 1] lost node 3", "imex.error"),
        ("slurmd.log", "[2026-01-31T12:00:00.000] error: health_check failed: rc:1 output:x", "node.not_ready"),
        ("syslog", "Jan 31 12:00:00 host systemd-networkd[812]: ens5: Lost carrier", "network.link_down"),
    ],
)
def test_a_line_of_a_service_becomes_an_event(tmp_path: Path, name: str, line: str, kind: str) -> None:
    path = tmp_path / name
    path.write_text(f"{line}\n")  # old news
    (event,) = read(path, tmp_path / "spool", more=f"{line}\n")
    assert (event["kind"], event["source"]) == (kind, "journal")


def test_a_log_that_appears_later_is_read_from_its_beginning(tmp_path: Path) -> None:
    (event,) = read(tmp_path / "fabricmanager.log", tmp_path / "spool", more=f"{FATAL}\n")
    assert (event["kind"], event["component"]["pci"]) == ("nvswitch.sxid", "0000:b3:00")


def test_who_wrote_a_file_is_told_by_its_name() -> None:
    assert program_of(Path("/var/log/slurm/slurmd.node1.log")) == "slurmd"
    assert program_of(Path("/var/log/messages")) is None

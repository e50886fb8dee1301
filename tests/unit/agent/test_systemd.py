import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.systemd import Systemd


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[socket.socket, str]]:
    """What systemd listens on, and how it tells a service of it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.settimeout(10)
        path = str(tmp_path / "notify")
        listening.bind(path if request.param == "path" else f"\0{path}")
        yield listening, path if request.param == "path" else f"@{path}"


def test_it_says_that_it_is_ready_goes_on_and_ends(manager: tuple[socket.socket, str]) -> None:
    listening, address = manager
    systemd = Systemd({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "60000000"})
    systemd.ready()
    systemd.alive("12 sources")
    systemd.stopping()
    assert [listening.recv(1000) for _ in range(3)] == [b"READY=1", b"WATCHDOG=1\nSTATUS=12 sources", b"STOPPING=1"]
    assert systemd.watchdog_seconds == 60


def test_a_reload_is_dated_as_systemd_wants_it(manager: tuple[socket.socket, str]) -> None:
    listening, address = manager
    Systemd({"NOTIFY_SOCKET": address}).reloading()
    assert listening.recv(1000).startswith(b"RELOADING=1\nMONOTONIC_USEC=")


def test_no_watchdog_no_sign_of_life(manager: tuple[socket.socket, str]) -> None:
    listening, address = manager
    for environ in ({}, {"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"}):
        systemd = Systemd({"NOTIFY_SOCKET": address, **environ}, pid=7)
        assert not systemd.watchdog_seconds
        systemd.alive()
    Systemd({"NOTIFY_SOCKET": address}).ready()
    assert listening.recv(1000) == b"READY=1"


def test_where_nobody_listens_nothing_happens(tmp_path: Path) -> None:
    Systemd({}).ready()
    Systemd({"NOTIFY_SOCKET": str(tmp_path / "none")}).ready()

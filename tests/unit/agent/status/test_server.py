import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from agent.status import client, http
from agent.status.client import ask, status
from agent.status.http import Answer, Page, json_answer
from agent.status.server import StatusServer, listen_tcp, listen_unix
from policies.contract.errors import DependencyError
from tests.tools.sources import eventually


def broken() -> Answer:
    msg = "a bug"
    raise ValueError(msg)


PAGES: Mapping[str, Page] = {
    "/status": lambda: json_answer({"healthy": True}),
    "/healthz": lambda: Answer(503, "publisher stands still\n"),
    "/broken": broken,
}


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that others load it may take a while until a thread has its turn."""
    monkeypatch.setattr(client, "_SECONDS", 60.0)
    monkeypatch.setattr(http.serve_one, "__defaults__", (60.0,))


@contextmanager
def serving(listening: socket.socket, pages: Mapping[str, Page] = PAGES) -> Iterator[StatusServer]:
    server, stop = StatusServer(listening, pages), threading.Event()
    thread = threading.Thread(target=server.run, args=(stop,))
    thread.start()
    try:
        yield server
    finally:
        stop.set()
        thread.join(60)
        server.close()
        assert not thread.is_alive()


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    with serving(listen_unix(tmp_path / "run" / "agent.sock")):
        yield tmp_path / "run" / "agent.sock"


def send(path: Path, data: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(60)
        connection.connect(str(path))
        connection.sendall(data)
        received = b""
        while chunk := connection.recv(4096):
            received += chunk
        return received


def test_the_status_is_json_and_only_the_agents_group_may_ask(path: Path) -> None:
    assert status(str(path)) == {"healthy": True}
    assert path.stat().st_mode & 0o777 == 0o660


def test_a_page_that_is_not_well_is_a_dependency_that_fails(path: Path) -> None:
    with pytest.raises(DependencyError, match="503: publisher stands still"):
        ask(str(path), "/healthz")


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (b"GET /nothing HTTP/1.1\r\n\r\n", b"HTTP/1.1 404"),
        (b"POST /status HTTP/1.1\r\n\r\n", b"HTTP/1.1 405"),
        (b"GET /broken HTTP/1.1\r\n\r\n", b"HTTP/1.1 500"),
        (b"\x16\x03\x01 hello\r\n\r\n", b"HTTP/1.1 400"),
        (b"GET /status?x=1 HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 200"),
        (b"GET /" + b"x" * 9000, b"HTTP/1.1 431"),
    ],
)
def test_every_request_is_answered_with_what_is_wrong_with_it(path: Path, request_: bytes, expected: bytes) -> None:
    assert send(path, request_).startswith(expected)
    assert json.loads(send(path, b"GET /status HTTP/1.1\r\n\r\n").partition(b"\r\n\r\n")[2]) == {"healthy": True}


def test_one_who_never_ends_its_request_is_told_so_and_holds_up_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[float] = []

    def serve(connection: socket.socket, pages: Mapping[str, Page]) -> None:
        begun.append(60.0 if begun else 1.0)  # the first is the slow one
        http.serve_one(connection, pages, begun[-1])

    monkeypatch.setattr("agent.status.server.serve_one", serve)
    path = tmp_path / "s"
    with serving(listen_unix(path)):
        slow = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        slow.settimeout(60)
        slow.connect(str(path))
        slow.sendall(b"GET /st")
        eventually(lambda: begun == [1.0])
        assert status(str(path)) == {"healthy": True}
        assert slow.recv(100).startswith(b"HTTP/1.1 408")
        slow.close()


def test_more_than_four_at_a_time_are_refused_and_later_ones_answered(tmp_path: Path) -> None:
    go_on, path = threading.Event(), tmp_path / "s"
    busy: list[int] = []

    def wait() -> Answer:
        busy.append(1)
        go_on.wait(60)
        return Answer(200, "done")

    with serving(listen_unix(path), {"/wait": wait, "/status": PAGES["/status"]}):
        threads = [threading.Thread(target=ask, args=(str(path), "/wait")) for _ in range(4)]
        for thread in threads:
            thread.start()
        eventually(lambda: len(busy) == 4)
        with pytest.raises(DependencyError, match="503"):
            status(str(path))
        go_on.set()
        for thread in threads:
            thread.join(60)
        eventually(lambda: answers(path))


def answers(path: Path) -> bool:
    try:
        return status(str(path)) == {"healthy": True}
    except DependencyError:
        return False


def test_a_socket_that_a_dead_agent_left_is_replaced_and_that_of_a_living_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "s"
    left = listen_unix(path)
    left.close()
    with serving(listen_unix(path)), pytest.raises(OSError, match="another agent answers"):
        listen_unix(path)
    assert not path.exists()


def test_nothing_but_a_socket_is_ever_replaced(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("precious")
    with pytest.raises(FileExistsError):
        listen_unix(tmp_path / "s")
    assert (tmp_path / "s").read_text() == "precious"


def test_where_no_agent_answers_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DependencyError, match="no agent answers") as caught:
        status(str(tmp_path / "none"))
    assert "systemctl" in caught.value.hint


def test_a_tcp_port_answers_as_well() -> None:
    listening = listen_tcp("127.0.0.1:0")
    address = listening.getsockname()
    with serving(listening), socket.create_connection(address, timeout=60) as connection:
        connection.sendall(b"GET /status HTTP/1.1\r\n\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 OK\r\n")

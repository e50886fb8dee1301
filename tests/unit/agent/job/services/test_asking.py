import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from agent.job.services.asking import Answer, ask_grpc, ask_http

SETTINGS = b"\0\0\x06\x04\0\0\0\0\0\0\x05\0\0\x40\0"
Talk = Callable[[socket.socket], None]


@contextmanager
def serving(server: socket.socket, talk: Talk) -> Iterator[None]:
    """Answer one caller by *talk*."""

    def serve() -> None:
        with suppress(OSError):
            one, _ = server.accept()
            with one, suppress(OSError):
                one.settimeout(60)
                talk(one)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join(60)


def unix(folder: Path) -> tuple[socket.socket, str]:
    server, path = socket.socket(socket.AF_UNIX), str(folder / "containerd.sock")
    server.bind(path)
    server.listen()
    return server, path


def grpc(folder: Path, talk: Talk, deadline: float = 60) -> Answer:
    server, path = unix(folder)
    with serving(server, talk):
        return ask_grpc(path, deadline)


def http(talk: Talk, deadline: float = 60) -> Answer:
    server = socket.create_server(("127.0.0.1", 0))
    with serving(server, talk):
        return ask_http(f"http://127.0.0.1:{server.getsockname()[1]}/healthz", deadline)


def slowly(data: bytes) -> Talk:
    def talk(one: socket.socket) -> None:
        for byte in data:
            one.sendall(bytes([byte]))
            time.sleep(0.05)

    return talk


def until_closed(one: socket.socket) -> None:
    while one.recv(1024):
        pass


def test_a_server_that_begins_with_settings_is_well_and_hears_a_goodbye(tmp_path: Path) -> None:
    heard = b""

    def talk(one: socket.socket) -> None:
        nonlocal heard
        one.sendall(SETTINGS)
        while more := one.recv(1024):
            heard += more

    assert grpc(tmp_path, talk) is Answer.WELL
    assert heard.startswith(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
    assert heard[24:33] == b"\0\0\0\x04\0\0\0\0\0"
    assert heard[33:37] == b"\0\0\x08\x07"


def test_an_answer_in_pieces_is_one(tmp_path: Path) -> None:
    assert grpc(tmp_path, slowly(SETTINGS)) is Answer.WELL


@pytest.mark.parametrize("said", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0\0\0\x06\0\0\0\0\0", b"", b"\0\0"])
def test_a_server_that_speaks_otherwise_is_unwell(tmp_path: Path, said: bytes) -> None:
    assert grpc(tmp_path, lambda one: one.sendall(said)) is Answer.UNWELL


def test_a_server_that_says_nothing_is_silent_after_the_deadline(tmp_path: Path) -> None:
    assert grpc(tmp_path, until_closed, deadline=0.2) is Answer.SILENT


def test_a_drip_does_not_stretch_the_deadline(tmp_path: Path) -> None:
    before = time.monotonic()
    assert http(slowly(b"H" * 2000), deadline=0.3) is Answer.SILENT
    assert time.monotonic() - before < 60


def test_a_socket_that_is_missing_or_that_nobody_listens_at(tmp_path: Path) -> None:
    assert ask_grpc(str(tmp_path / "none.sock"), 1) is Answer.ABSENT
    server, path = unix(tmp_path)
    server.close()
    assert ask_grpc(path, 60) is Answer.REFUSED


def test_a_queue_that_is_full_is_silence(tmp_path: Path) -> None:
    path = str(tmp_path / "full.sock")
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as first:
        server.bind(path)
        server.listen(0)
        first.connect(path)
        assert ask_grpc(path, 0.2) is Answer.SILENT


def test_a_path_that_is_too_long_for_a_socket_stops_nothing() -> None:
    assert ask_grpc("/" + "x" * 200, 1) is Answer.UNWELL


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", Answer.WELL),
        (b"HTTP/1.1 500 Internal Server Error\r\n\r\n", Answer.UNWELL),
        (b"SSH-2.0-x\r\n", Answer.UNWELL),
        (b"", Answer.UNWELL),
    ],
)
def test_http_is_well_with_200(said: bytes, answer: Answer) -> None:
    def talk(one: socket.socket) -> None:
        assert one.recv(4096).startswith(b"GET /healthz HTTP/1.0\r\n")
        one.sendall(said)

    assert http(talk) is answer


def test_http_that_nobody_listens_at_is_refused() -> None:
    with socket.socket() as bound:  # and does not listen: nobody else gets the port meanwhile
        bound.bind(("127.0.0.1", 0))
        assert ask_http(f"http://127.0.0.1:{bound.getsockname()[1]}/", 60) is Answer.REFUSED

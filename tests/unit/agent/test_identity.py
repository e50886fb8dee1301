import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agent.identity import InstanceMetadata, identify, read_boot_id
from agent.settings import Settings
from policies.contract.errors import DependencyError, SettingsError

FACTS = {
    "/latest/meta-data/instance-id": "i-0abc",
    "/latest/meta-data/instance-type": "p5.48xlarge",
    "/latest/meta-data/placement/availability-zone": "us-east-1a",
}


class _Service(BaseHTTPRequestHandler):
    token = "a-token"

    def do_PUT(self) -> None:
        valid = self.path == "/latest/api/token" and self.headers["X-aws-ec2-metadata-token-ttl-seconds"] == "60"
        self._answer(200 if valid else 400, self.token)

    def do_GET(self) -> None:
        known = self.headers["X-aws-ec2-metadata-token"] == self.token
        self._answer((200 if self.path in FACTS else 404) if known else 401, FACTS.get(self.path, ""))

    def _answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr("agent.identity._DEADLINE_SECONDS", 60.0)  # it answers: how soon is the machine's matter
    with ThreadingHTTPServer(("127.0.0.1", 0), _Service) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def settings(**values: str) -> Settings:
    return Settings.model_validate({"cluster": "c", "stream": "s", "node_name": "node-1", "boot_id": "b", **values})


def test_the_instance_s_metadata_says_who_we_are(endpoint: str) -> None:
    node = identify(settings(), InstanceMetadata(endpoint))
    assert (node.cluster, node.name, node.boot_id) == ("c", "node-1", "b")
    assert (node.instance_id, node.instance_type, node.availability_zone) == ("i-0abc", "p5.48xlarge", "us-east-1a")


def test_settings_win_and_nobody_is_asked() -> None:
    def nobody(path: str) -> str:
        raise AssertionError(path)

    node = identify(settings(instance_id="i-1", availability_zone="z"), nobody)
    assert (node.instance_id, node.instance_type, node.availability_zone) == ("i-1", "", "z")


def test_what_only_informs_may_be_missing() -> None:
    def knows_the_id_only(path: str) -> str:
        if path != "instance-id":
            msg = "no"
            raise DependencyError(msg)
        return "i-2"

    assert identify(settings(), knows_the_id_only).instance_type == ""


def test_nobody_who_says_the_instance_id_is_a_settings_error() -> None:
    with pytest.raises(SettingsError, match="RELIGHT_AGENT_INSTANCE_ID"):
        identify(settings(), InstanceMetadata("http://127.0.0.1:1"))


def test_an_unknown_fact_is_a_dependency_error(endpoint: str) -> None:
    with pytest.raises(DependencyError, match="HTTP 404"):
        InstanceMetadata(endpoint)("spot/instance-action")


def test_what_the_service_does_not_have_is_told_apart_from_no_answer(endpoint: str) -> None:
    assert InstanceMetadata(endpoint).find("spot/instance-action") is None
    with pytest.raises(DependencyError, match="does not tell"):
        InstanceMetadata("http://127.0.0.1:1").find("spot/instance-action")


def test_a_token_that_expired_is_renewed(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = InstanceMetadata(endpoint)
    assert metadata.find("instance-id") == "i-0abc"
    monkeypatch.setattr(_Service, "token", "another")
    assert metadata.find("instance-id") == "i-0abc"


def test_the_kernel_s_boot_id_is_read(tmp_path: Path) -> None:
    (tmp_path / "boot_id").write_text("da38098f\n")
    assert read_boot_id(tmp_path / "boot_id") == "da38098f"
    with pytest.raises(SettingsError, match="RELIGHT_AGENT_BOOT_ID"):
        read_boot_id(tmp_path / "missing")


@contextmanager
def answering(answer: Callable[[socket.socket], None]) -> Iterator[InstanceMetadata]:
    """Serve *answer* to whoever connects."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    one, _ = server.accept()
                    threading.Thread(target=talk, args=(one,), daemon=True).start()

        def talk(one: socket.socket) -> None:
            with one, suppress(OSError):
                one.recv(4096)
                answer(one)

        threading.Thread(target=serve, daemon=True).start()
        yield InstanceMetadata(f"http://127.0.0.1:{server.getsockname()[1]}")


def drip(one: socket.socket) -> None:
    one.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        one.sendall(b"x")
        time.sleep(0.05)


def drip_headers(one: socket.socket) -> None:
    while True:
        one.sendall(b"HTTP/1.1 200 OK\r\nA: ")
        time.sleep(0.05)


def flood(one: socket.socket) -> None:
    one.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + b"y" * (10 << 20))


def two_lines(one: socket.socket) -> None:
    one.sendall(b"HTTP/1.1 200 OK\r\n\r\na\r\nX-Evil: b")


def nonsense(one: socket.socket) -> None:
    one.sendall(b"\0\xff" * 4096)


@pytest.mark.parametrize("answer", [drip, drip_headers, flood, two_lines, nonsense, socket.socket.close])
def test_a_service_that_answers_slowly_or_rubbish_is_silent_within_seconds(
    answer: Callable[[socket.socket], None],
) -> None:
    began = time.monotonic()
    with answering(answer) as metadata, pytest.raises(DependencyError):
        metadata.find("instance-id")
    assert time.monotonic() - began < 60


def test_the_driver_is_asked_below_the_node_s_own_proc(tmp_path: Path) -> None:
    def nobody(path: str) -> str:
        raise AssertionError(path)

    here = settings(instance_id="i-1", procfs=str(tmp_path))
    assert identify(here, nobody).driver_version == ""
    (tmp_path / "driver" / "nvidia").mkdir(parents=True)
    said = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.148.08  Thu May  1 01:23:45 UTC 2025\n"
    (tmp_path / "driver" / "nvidia" / "version").write_text(said)
    assert identify(here, nobody).driver_version == "570.148.08"

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from agent.check import check_node
from agent.settings import PREFIX
from agent.spool.limits import SpoolLimits
from agent.spool.opening import open_spool
from console.main import main
from tests.tools.agent_events import ManualClock, describe_loss, new_ids

# Who is not root does not see who holds a GPU, and is told so.
BARRED = [] if os.geteuid() == 0 else ["processes"]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "kernel.log").touch()
    values = {
        "CLUSTER": "c",
        "STREAM": "faults",
        "INSTANCE_ID": "i-1",
        "KERNEL_LOG": str(tmp_path / "kernel.log"),
        "SPOOL_DIR": str(tmp_path / "spool"),
        "METADATA_ENDPOINT": "http://127.0.0.1:1",
        "JOURNAL_UNITS": "",
    }
    return {f"{PREFIX}{name}": value for name, value in values.items()} | {"AWS_REGION": "us-east-1"}


@pytest.fixture
def stream() -> Iterator[None]:
    with mock_aws():
        boto3.client("kinesis", region_name="us-east-1").create_stream(StreamName="faults", ShardCount=1)
        yield


def results(environ: dict[str, str]) -> dict[str, bool]:
    return {result.name: result.ok for result in check_node(None, environ)}


def test_where_everything_works_every_check_says_so(environ: dict[str, str], stream: None) -> None:
    found = results(environ)
    assert [name for name, ok in found.items() if not ok] == BARRED
    assert (
        found.items()
        >= {
            "settings": True,
            "identity": True,
            "kernel log": True,
            "training logs": True,
            "journal": True,
            "spool": True,
            "job file": True,
            "kinesis": True,
            "overflow": True,
        }.items()
    )


def test_each_check_fails_alone_and_says_what_to_do(environ: dict[str, str], stream: None, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    environ |= {f"{PREFIX}STREAM": "missing", f"{PREFIX}SPOOL_DIR": str(tmp_path / "file")}
    found = {result.name: result for result in check_node(None, environ)}
    assert [name for name, result in found.items() if not result.ok] == ["spool", *BARRED, "kinesis"]
    assert all(result.hint for result in found.values() if not result.ok)


@pytest.fixture
def refusing_aws() -> Iterator[str]:
    """The address of a service that answers every call as IAM does for a role without the right."""

    class Refuse(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            body = b'{"__type": "AccessDeniedException", "message": "not authorized to perform"}'
            self.send_response(400)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Refuse) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_role_that_may_only_put_is_what_the_stack_gives_out_and_no_failure(
    environ: dict[str, str], refusing_aws: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("ENDPOINT_URL", refusing_aws), ("ACCESS_KEY_ID", "x"), ("SECRET_ACCESS_KEY", "x")):
        monkeypatch.setenv(f"AWS_{name}", value)
    environ[f"{PREFIX}OVERFLOW_QUEUE_URL"] = f"{refusing_aws}/111122223333/overflow"
    found = {result.name: result for result in check_node(None, environ)}
    assert [name for name, result in found.items() if not result.ok] == BARRED
    assert "may not ask" in found["kinesis"].found
    assert "may not ask" in found["overflow"].found


def test_nobody_who_says_who_we_are_fails_identity(environ: dict[str, str], stream: None) -> None:
    del environ[f"{PREFIX}INSTANCE_ID"]
    del environ["AWS_REGION"]
    failed = [name for name, ok in results(environ).items() if not ok]
    assert failed == ["identity", "spool", *BARRED, "kinesis"]


def test_a_spool_in_use_is_a_running_agent_and_no_failure(
    environ: dict[str, str], stream: None, tmp_path: Path
) -> None:
    with open_spool(
        tmp_path / "spool",
        owner="i-1",
        boot_id="b",
        limits=SpoolLimits(),
        clock=ManualClock(),
        new_id=new_ids(),
        describe_loss=describe_loss,
    ):
        assert results(environ)["spool"]


def test_the_command_shows_each_and_fails_with_any(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    assert main(["agent", "check"]) == 1
    shown = capsys.readouterr().out
    assert "ok    spool           " in shown
    assert "FAIL  kinesis         Kinesis is not reached" in shown
    assert shown.index("works:") < shown.index("ok    spool") < shown.index("fails:") < shown.index("FAIL  kinesis")
    assert main(["agent", "check", "--json"]) == 1
    told = {one["name"]: one["state"] for one in json.loads(capsys.readouterr().out)}
    assert (told["spool"], told["kinesis"]) == ("works", "fails")


def test_wrong_settings_are_the_only_answer() -> None:
    assert results({}) == {"settings": False}


def test_identity_names_the_driver_where_it_is_known(environ: dict[str, str], stream: None) -> None:
    environ |= {f"{PREFIX}DRIVER_VERSION": "570.148.08"}
    found = {result.name: result.found for result in check_node(None, environ)}
    assert found["identity"].endswith(", driver 570.148.08")

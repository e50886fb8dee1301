"""The embedded AWS as its users see it: a context manager around one server process on 127.0.0.1.

Time: `time_scale` is how many real seconds one second of a wait lasts (0.1: ten times faster); see local.aws.clock.
This module must stay light: it runs in tests and in the demo, moto runs in the process it starts.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

from local.aws import principals
from local.aws.clients import Clients
from local.aws.errors import ControlError, StartError
from local.aws.recorder_types import RecordedCall
from local.aws.settings import ServerSettings, parse

_STOP_SECONDS = 5.0
_CONTROL_SECONDS = 120.0
_DIRECTLY = build_opener(ProxyHandler({}))  # a proxy of the environment's does not reach this machine's loopback
# An invocation is waited for; a connection that breaks is tried once more, as boto3's own defaults do and more.
_CLIENT_OPTIONS = {"read_timeout": 120, "retries": {"total_max_attempts": 2}}


class EmbeddedAws:
    """A running embedded AWS. Leave the context, call `close`, or end the process: it stops with its workers."""

    def __init__(
        self,
        data_dir: Path,
        *,
        code_root: Path,
        time_scale: float = 1.0,
        region: str = "us-east-1",
        worker_python: str = sys.executable,
        record: bool = True,
    ) -> None:
        """Start the server and wait until it answers.

        Args:
            data_dir: logs, unpacked code and the record of calls; made when absent.
            code_root: the checkout. A worker whose code is a bundled asset cannot import from it.
            time_scale: real seconds per second of a wait.
            region: the only region that stacks are deployed to.
            worker_python: the interpreter of the Lambda workers.
            record: whether calls are recorded by principal.

        Raises:
            StartError: the process ended or said nothing.
        """
        self.region = region
        self.data_dir = data_dir
        data_dir.mkdir(parents=True, exist_ok=True)
        settings = ServerSettings(
            data_dir=data_dir.resolve(),
            code_root=code_root.resolve(),
            worker_python=worker_python,
            region=region,
            time_scale=time_scale,
            record=record,
        )
        self._process = _start(settings)
        try:
            self.endpoint = _read_endpoint(self._process, data_dir)
        except StartError:
            self._stop()
            raise
        self._clients = Clients(self.endpoint, region, _CLIENT_OPTIONS)

    def environment(self, principal: str = "operator") -> dict[str, str]:
        """The environment of a process that is to talk to this AWS as `principal`, and to nothing else."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            "AWS_ACCESS_KEY_ID": principals.access_key(principal),
            "AWS_SECRET_ACCESS_KEY": "not-checked",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        }

    def client(self, service: str, principal: str = "operator") -> Any:
        """A boto3 client for this AWS, the same one each time. Safe to call from any thread."""
        return self._clients.get(service, principal)

    def control(self, action: str, **arguments: Any) -> Any:
        """Ask something of the server that AWS's own API does not have.

        Raises:
            ControlError: it was refused, with the reason.
        """
        body = json.dumps(arguments).encode()
        request = Request(f"{self.endpoint}/_relight/{action}", data=body, method="POST")  # noqa: S310 - loopback
        try:
            with _DIRECTLY.open(request, timeout=_CONTROL_SECONDS) as answer:
                return json.load(answer)["value"]
        except HTTPError as refusal:
            raise ControlError(json.load(refusal)["error"]) from refusal

    def recorded_calls(self) -> list[RecordedCall]:
        """Every call so far, by principal, action and resources. `close` writes them to `<data_dir>/calls.jsonl`."""
        return [RecordedCall.from_json(call) for call in self.control("recorded_calls")]

    def emit_service_event(
        self, source: str, detail_type: str, detail: Mapping[str, Any], resources: Sequence[str] = ()
    ) -> None:
        """Put an event on the default bus as an AWS service does (`aws.ec2`, which PutEvents itself refuses)."""
        arguments = {"detail_type": detail_type, "detail": dict(detail), "resources": list(resources)}
        self.control("emit_service_event", source=source, **arguments)

    def published(self, topic_arn: str) -> list[dict[str, Any]]:
        """What was published to a topic so far: MessageId, Message, Subject, MessageAttributes."""
        return list(self.control("published", topic_arn=topic_arn))

    def set_eks_endpoint(self, name: str, url: str) -> None:
        """Let DescribeCluster answer this address for a cluster."""
        self.control("set_eks_endpoint", name=name, url=url)

    def set_instance_delays(self, *, boot: float | None = None, shutdown: float | None = None) -> None:
        """How long instances are `pending` and `shutting-down` from now on, in nominal seconds."""
        self.control("set_instance_delays", boot=boot, shutdown=shutdown)

    def set_impaired(self, instance_id: str, *, instance: bool = False, system: bool = False) -> None:
        """Let an instance's status checks fail; neither: it is well again."""
        self.control("set_impaired", instance_id=instance_id, instance=instance, system=system)

    def set_capacity_reservations(self, reservations: Sequence[Mapping[str, Any]]) -> None:
        """Have these capacity reservations and no others (`services/capacity_reservations.py` says what they hold)."""
        self.control("set_capacity_reservations", reservations=reservations)

    def set_console(self, instance_id: str, text: str) -> None:
        """What GetConsoleOutput shows for an instance."""
        self.control("set_console", instance_id=instance_id, text=text)

    def set_training_job(self, name: str, status: str, *, secondary: str | None = None, reason: str = "") -> None:
        """Put a SageMaker training job into a status (`Failed`, `Completed`, `InProgress`) and tell the bus.

        `secondary` is the secondary status, `reason` the message of the transition and, once `Failed`, the reason.
        """
        self.control("set_training_job", name=name, status=status, secondary=secondary, reason=reason)

    def fail_next(
        self,
        service: str,
        operation: str,
        error_code: str,
        times: int = 1,
        *,
        principal: str | None = None,
        containing: str = "",
    ) -> None:
        """Let the next calls fail with `error_code`, before anything happens. `service` is the IAM prefix.

        `principal` and `containing` (text in the body, or in the record that is put) narrow which calls are meant.
        """
        self._add_fault(service, operation, times, principal, containing, error_code=error_code)

    def drop_answer(
        self, service: str, operation: str, times: int = 1, *, principal: str | None = None, containing: str = ""
    ) -> None:
        """Let the next calls happen, and break the connection instead of answering."""
        self._add_fault(service, operation, times, principal, containing)

    def kill_caller_next(
        self,
        service: str,
        operation: str,
        when: Literal["before", "after"] = "after",
        times: int = 1,
        *,
        principal: str | None = None,
        containing: str = "",
    ) -> None:
        """Let the process that makes the next call die (SIGKILL) before the effect, or after it without an answer."""
        self._add_fault(service, operation, times, principal, containing, kill=when)

    def pending_faults(self) -> list[dict[str, Any]]:
        """The faults that have not happened yet."""
        return list(self.control("pending_faults"))

    def clear_faults(self) -> None:
        """Forget the faults that have not happened yet."""
        self.control("clear_faults")

    def _add_fault(
        self, service: str, operation: str, times: int, principal: str | None, containing: str, **how: str
    ) -> None:
        arguments = {"service": service, "operation": operation, "times": times, "principal": principal}
        self.control("add_fault", **arguments, containing=containing, **how)

    def is_running(self) -> bool:
        """Whether the server process lives."""
        return self._process.poll() is None

    def close(self) -> None:
        """Stop the server and its workers. Calling it twice is fine."""
        self._clients.close()
        self._stop()

    def _stop(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()  # the server ends when this pipe does
        try:
            self._process.wait(timeout=_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _start(settings: ServerSettings) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "local.aws.server", *settings.arguments()]
    root = Path(__file__).resolve().parents[2]
    with (settings.data_dir / "server.log").open("ab") as log:
        return subprocess.Popen(
            command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=_server_environment()
        )


def _server_environment() -> dict[str, str]:
    """The caller's environment without AWS settings and proxies: the server must never reach a real account."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AWS_", "MOTO_")) and not name.lower().endswith("_proxy")
    }
    return {**kept, "AWS_EC2_METADATA_DISABLED": "true", "PYTHONUNBUFFERED": "1"}


def _read_endpoint(process: subprocess.Popen[bytes], data_dir: Path) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        process.wait()
        log = (data_dir / "server.log").read_text()[-2000:]
        raise StartError(f"the embedded AWS ended with status {process.returncode} before it was ready:\n{log}")
    endpoint: str = json.loads(line)["endpoint"]
    return endpoint


def main() -> None:
    """Run the server in this process until standard input ends or SIGTERM comes."""
    from local.aws.process import run  # noqa: PLC0415 - moto is loaded in the server process only

    run(parse(sys.argv[1:]))


if __name__ == "__main__":
    main()

"""One terminal speaks to one region, whether `aws` or `relight` asks."""

import ast
from pathlib import Path
from typing import Any

import pytest

from console.aws import CONNECT_SECONDS, READ_SECONDS, TRIES, session

CONSOLE = Path(__file__).parents[3] / "console"


def test_aws_region_counts_as_it_does_for_the_aws_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    assert session().region_name == "us-west-2"
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    assert session().region_name == "eu-north-1"
    assert session("ap-south-1").region_name == "ap-south-1"


def test_an_empty_aws_region_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "")
    assert session().region_name == "us-east-1"


SERVICES = ("cloudformation", "cloudwatch", "dynamodb", "ec2", "kinesis", "lambda", "s3", "sns", "sqs")


@pytest.mark.parametrize("service", SERVICES)
def test_whatever_client_a_command_makes_its_calls_end(service: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    config = session().client(service).meta.config  # type: ignore[call-overload]  # its overloads want a literal
    assert (config.connect_timeout, config.read_timeout) == (CONNECT_SECONDS, READ_SECONDS)
    assert config.retries == {"mode": "standard", "total_max_attempts": TRIES}
    longest = TRIES * (CONNECT_SECONDS + READ_SECONDS)
    assert longest <= 40, "who is paged waits no longer for one call that nobody answers"


def test_a_command_may_give_an_answer_longer_and_stays_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    config: Any = session(read_seconds=70).client("lambda").meta.config
    assert (config.connect_timeout, config.read_timeout) == (CONNECT_SECONDS, 70)


FILES = [file for file in sorted(CONSOLE.rglob("*.py")) if file != CONSOLE / "aws.py"]
MAKERS = {"boto3", "botocore.session", "botocore.config", "functions.clients"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(CONSOLE)))
def test_no_command_makes_a_client_but_from_the_bounded_session(file: Path) -> None:
    tree = list(ast.walk(ast.parse(file.read_text())))
    assert not MAKERS & {name for node in tree for name in imported(node)}, "console/aws.py is the one that does"
    called = [node for node in tree if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    clients = [call for call in called if call.func.attr in {"client", "resource"}]  # type: ignore[attr-defined]
    assert not [ast.unparse(call) for call in clients if any(word.arg == "config" for word in call.keywords)]


def test_the_check_above_sees_those_who_make_clients() -> None:
    makers = [file for file in FILES if ".client(" in file.read_text()]
    assert {file.parent.name for file in makers} >= {"archive", "checkpoints", "dlq", "incident", "node", "policy"}


def imported(node: ast.AST) -> set[str]:
    """What is imported here, for running: not what is only there for types."""
    if isinstance(node, ast.Import):
        return {each.name for each in node.names}
    if isinstance(node, ast.ImportFrom) and node.module:
        return {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    return set()

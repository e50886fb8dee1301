"""One terminal speaks to one region, whether `aws` or `relight` asks."""

import ast
from pathlib import Path

import pytest

from console.aws import session

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


ASKING = [file for room in ("policy", "commands") for file in sorted((CONSOLE / room).glob("*.py"))]


@pytest.mark.parametrize(
    "file", [file for file in ASKING if ".client(" in file.read_text()], ids=lambda file: file.name
)
def test_nobody_who_edits_policies_waits_for_aws_as_long_as_botocore_lets_it_hang(file: Path) -> None:
    calls = [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
    clients = [call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "client"]
    given = [ast.unparse(word.value) for call in clients for word in call.keywords if word.arg == "config"]
    assert len(given) == len(clients) > 0
    assert {"bounded" in each or each == "config" for each in given} == {True}
    assert {ast.unparse(call.func) for call in calls} & {"bounded", "Config"} == {"bounded"}

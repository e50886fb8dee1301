from pathlib import Path

import pytest

from local.demo.clues import find_clues, last_error


@pytest.mark.parametrize(
    "error",
    [
        "ImportError: cannot import name 'a'",
        "botocore.exceptions.ClientError: An error occurred",
        "Runtime.ExitError RequestId: 4 Error: Runtime exited",
        "Sandbox.Timedout RequestId: 4 Error: Task timed out",
    ],
)
def test_the_last_error_of_a_log_is_found(error: str) -> None:
    assert last_error(f"START\nValueError: before\nTraceback\n  File x\n{error}\nEND RequestId: 1\n") == error


@pytest.mark.parametrize("text", ["", "START RequestId: 1\nEND\n", '{"message": "no Error: here"}\n'])
def test_a_log_without_an_error_has_none(text: str) -> None:
    assert last_error(text) == ""


def test_each_log_with_an_error_is_named(tmp_path: Path) -> None:
    for folder in ("aws/logs", "nodes/i-1"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "aws/logs/Coordinate.log").write_text("ImportError: no\n")
    (tmp_path / "aws/logs/Triage.log").write_text("START\n")
    (tmp_path / "nodes/i-1/agent.log").write_text("OSError: disk\n")
    assert find_clues(tmp_path) == ["aws/logs/Coordinate.log: ImportError: no", "nodes/i-1/agent.log: OSError: disk"]
    assert find_clues(tmp_path / "none") == []

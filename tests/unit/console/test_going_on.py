"""Whoever presses Ctrl-C is told which command goes on, and can paste it."""

import shlex
from pathlib import Path

import pytest

from console.going_on import to_go_on, with_mode
from console.main import main
from functions.adapters.policies import DynamoPolicies
from tests.tools.envelopes import SHIPPED


def test_what_is_said_again_does_what_is_left() -> None:
    words = ["policy", "push", "my policies/", "--reason", "it's time"]
    told = to_go_on(words)
    assert told.startswith("To go on: `relight policy push ")
    assert shlex.split(told.split("`")[1]) == ["relight", *words]


@pytest.mark.parametrize(
    ("words", "there"),
    [
        (["i-0abc"], "i-0abc"),
        (["--wait", "9", "--yes", "i-0abc"], "i-0abc"),
        (["--by=kim", "--json", "--stack", "Ours", "i-0abc", "--region=eu-1"], "i-0abc --stack Ours --region=eu-1"),
    ],
)
def test_a_node_goes_on_with_what_it_was_asked(words: list[str], there: str) -> None:
    told = to_go_on(["node", "run", *words, "burn_in"])
    assert f"goes on there: `relight node commands {there}`." in told
    assert f"To ask once more: `relight node run {' '.join(words)} burn_in`." in told


def test_a_back_test_goes_on_where_it_was_only_if_it_kept_its_days() -> None:
    asked = ["policy", "backtest", "--events", "past"]
    assert "with --resume DIR it goes on where it was" in to_go_on(asked)
    for kept in (["--resume", "days"], ["--resume=days"]):
        assert to_go_on([*asked, *kept]).startswith("To go on: `relight policy backtest --events past --resume")


def test_a_mode_is_added_where_no_file_is_taken_for_it() -> None:
    words = ["policy", "push", "--reason", "it's time", "--", "my policies/"]
    told = shlex.split(with_mode(words, "keep"))
    assert told == ["relight", "policy", "push", "--mode", "keep", "--reason", "it's time", "--", "my policies/"]


def test_a_push_that_is_stopped_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def stopped(_table: DynamoPolicies, _name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(DynamoPolicies, "live", stopped)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    file = tmp_path / "capacity-expiring.yaml"
    file.write_bytes((SHIPPED / file.name).read_bytes())
    words = ("policy", "push", str(file), "--table", "t", "--wait", "30")
    assert main(words) == 130
    shown = capsys.readouterr()
    assert shown.err.endswith(f"What was done so far stays. To go on: `relight {' '.join(words)}`.\n")

"""A person learns which kinds of event there are without an account, and without reading code."""

import json

import pytest

from console.main import main
from console.policy.kinds import condition
from policies.contract.vocabulary import Kind
from policies.expressions.checker import check
from policies.kinds import about


def test_all_kinds_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "kinds"]) == 0
    told = capsys.readouterr().out
    assert all(kind.value in told for kind in Kind)


def test_one_kind_is_told_with_units_and_who_asks_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "kinds", "gpu.overheated"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("gpu.overheated: error; of: gpu\n")
    assert "event.attributes.temperature" in told
    assert "number, °C" in told
    assert "  gpu-overheated: alert" in told


def test_the_beginning_of_several_lists_those(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "kinds", "gpu.ecc", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [each["kind"] for each in told["kinds"]] == ["gpu.ecc_corrected", "gpu.ecc_uncorrected"]
    assert told["kinds"][1]["attributes"][0] == {"name": "memory", "type": "text", "unit": None}
    assert "policies" not in told


def test_a_kind_that_does_not_exist_is_asked_wrongly(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "kinds", "gpu.xud"]) == 2
    assert "Did you mean gpu.xid" in capsys.readouterr().err


@pytest.mark.parametrize("kind", list(Kind))
def test_the_condition_that_is_shown_is_a_good_one(kind: Kind) -> None:
    assert check(condition(about(kind)), "when") == []


def test_a_line_goes_into_a_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["policy", "kinds"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if line.startswith(tuple(Kind))]) == len(Kind)
    assert lines[1].split() == ["gpu.xid", "info", "to", "critical", "gpu"]

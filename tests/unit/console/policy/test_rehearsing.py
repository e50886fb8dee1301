"""A push that has to prove itself on the past first."""

import argparse
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path

import pytest

from console.commands import policy as command
from console.main import main
from console.policy.planning import Doing, Planned
from console.policy.pushing import Gate
from console.policy.rehearsing import Rehearsal, gate_of
from functions.twins.archive import MemoryArchive
from policies.contract.archive_names import INCIDENTS, POLICIES
from policies.contract.errors import BadInputError
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Orchestrator
from tests.tools.envelopes import NOW
from tests.tools.replays import documents, head, history, lived, revision, shelved

REPLACE, RESTART = documents()
AFTER = NOW + timedelta(hours=3)


@pytest.fixture(scope="module")
def archive() -> MemoryArchive:
    """Return a past in which only one of two policies was in force."""
    return shelved(history(), {POLICIES: revision(head(REPLACE), NOW - timedelta(hours=1))})


def gate(archive: MemoryArchive, most: int = 0, days: int = 1, jobs: int = 1) -> Gate:
    rehearsal = Rehearsal(archive, "the archive", days, most, price=1.0, jobs=jobs)
    return gate_of(rehearsal, lambda: nullcontext(lambda _name, _share: None), lambda: AFTER)


def planned(document: dict[str, object], doing: Doing = Doing.NEW) -> Planned:
    return Planned(str(document["name"]), doing, document, None, None)


def test_what_would_act_anew_more_often_than_allowed_is_refused_with_the_number(archive: MemoryArchive) -> None:
    refused = gate(archive, most=5)([planned(RESTART)])
    assert refused.startswith("in the last 1 days it would have acted in 6 incidents")
    assert "5 are allowed" in refused
    assert gate(archive, most=6)([planned(RESTART)]) == ""


def test_two_processes_find_the_same(archive: MemoryArchive, capsys: pytest.CaptureFixture[str]) -> None:
    told = [(gate(archive, jobs=jobs)([planned(RESTART)]), capsys.readouterr().out) for jobs in (1, 2)]
    assert told[0] == told[1]


def test_in_shadow_it_acts_in_none(archive: MemoryArchive) -> None:
    assert gate(archive)([planned({**RESTART, "mode": "shadow"})]) == ""


def test_turning_off_what_acts_is_no_new_act(archive: MemoryArchive, capsys: pytest.CaptureFixture[str]) -> None:
    assert gate(archive)([planned({**REPLACE, "mode": "off"}, Doing.OFF)]) == ""
    assert "new acts: 0" in capsys.readouterr().out


def test_turning_off_what_holds_an_edit_that_was_refused_is_no_new_act_either(
    archive: MemoryArchive, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = {**REPLACE, "settle": "soon", "mode": "off"}
    edit = Planned(str(REPLACE["name"]), Doing.OFF, broken, broken, head(REPLACE), keeps=True)
    assert gate(archive)([edit]) == ""
    assert "new acts: 0" in capsys.readouterr().out


def test_an_archive_that_is_younger_than_a_policy_does_not_take_what_it_did_all_along_for_new() -> None:
    young = shelved(history())
    there = head(RESTART)
    edit = Planned(there.name, Doing.CHANGED, {**RESTART, "why": "Said better."}, RESTART, there)
    assert gate(young)([edit]) == ""
    shadow = {**RESTART, "mode": "shadow"}
    armed = Planned(there.name, Doing.CHANGED, RESTART, shadow, head(shadow))
    assert gate(young)([armed]).startswith("in the last 1 days it would have acted in 6 incidents")


def test_other_words_do_no_more_where_what_was_done_went_wrong(capsys: pytest.CaptureFixture[str]) -> None:
    there = head(REPLACE)
    happened, told = lived([there], fails=Rung.REPLACE_NODE)
    past = shelved(history(), {POLICIES: happened, INCIDENTS: told})
    better = {**REPLACE, "why": "Said better."}
    assert gate(past)([Planned(there.name, Doing.CHANGED, better, REPLACE, there)]) == ""
    assert "succeeds (0 of them)" in capsys.readouterr().out
    gentler = {**REPLACE, "otherwise": ["isolate", "replace_node"]}
    assert "in 6 incidents" in gate(past)([Planned(there.name, Doing.CHANGED, gentler, REPLACE, there)])


def test_what_changes_nothing_asks_nobody_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert gate(MemoryArchive())([planned(REPLACE, Doing.SAME)]) == ""
    assert capsys.readouterr().out == "Nothing changes, so nothing was told again (--backtest).\n"


def test_an_archive_without_events_proves_nothing() -> None:
    with pytest.raises(BadInputError, match="holds no events"):
        gate(MemoryArchive())([planned(RESTART)])


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--backtest-days", "0", "whole number from 1"),
        ("--most-new-acts", "-5", "whole number from 0"),
        ("--time-scale", "0", "above 0"),
        ("--time-scale", "nan", "above 0"),
        ("--orchestrator", "nomad", "invalid choice"),
    ],
)
def test_a_number_that_is_none_is_refused_before_anything_is_read(
    option: str, value: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["policy", "push", "--table", "t", "--backtest", "nowhere", f"{option}={value}"])
    assert stopped.value.code == 2
    assert told in capsys.readouterr().err


def test_the_rehearsal_is_the_one_that_was_asked_for(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    words = f"push --backtest {tmp_path} --backtest-days 14 --most-new-acts 3 --time-scale 0.05".split()
    asked = command.rehearsal_of(parser.parse_args([*words, "--orchestrator", "sagemaker"]))
    assert (asked.address, asked.days, asked.most, asked.time_scale) == (str(tmp_path), 14, 3, 0.05)
    assert asked.orchestrator is Orchestrator.SAGEMAKER
    assert command.rehearsal_of(parser.parse_args(words)).orchestrator is Orchestrator.EKS
    assert command.rehearsal_of(parser.parse_args([*words, "--jobs", "2"])).jobs == 2

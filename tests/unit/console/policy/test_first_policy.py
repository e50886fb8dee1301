"""Whoever does what docs/first-policy.md says sees what it shows: its commands without an account are run here."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from console.main import main
from functions.adapters.archive_folder import FolderArchive
from policies.contract.vocabulary import Action, Kind
from policies.coordination.plan import CARRIED_OUT
from tests.tools.envelopes import SHIPPED, envelope, event, node
from tests.tools.replays import RUN, record, shelved

PAGE = (Path(__file__).parents[4] / "docs" / "first-policy.md").read_text(encoding="utf-8")
ALONE = {"kinds", "lint", "test", "explain", "backtest"}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def commands() -> Iterator[list[str]]:
    for line in "".join(blocks("sh")).splitlines():
        words = shlex.split(line)
        assert words[:2] in (["relight", "policy"], ["relight", "incident"])
        yield words[1:]


def three_errors(folder: Path) -> None:
    events = [event(at, at * 1200.0, kind=Kind.GPU_ECC_UNCORRECTED, job=RUN) for at in range(3)]
    told = [envelope(each, sent=at * 1200.0 + 1, identity=node("i-7")) for at, each in enumerate(events)]
    records = [record(each, at * 1200.0 + 1.05, at) for at, each in enumerate(told)]
    archive = FolderArchive(folder)
    for key, body in shelved(records).objects.items():
        archive.put(key, body)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (document,) = blocks("yaml")
    mine = tmp_path / "my-policies"
    mine.mkdir()
    (mine / f"{yaml.safe_load(document)['name']}.yaml").write_text(document)
    (tmp_path / "events.json").write_text(blocks("json")[0])
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "shipped").symlink_to(SHIPPED)
    three_errors(tmp_path / "archive")
    monkeypatch.chdir(tmp_path)
    return mine


@pytest.mark.usefixtures("desk")
def test_what_needs_no_account_does_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    done = [words for words in commands() if words[1] in ALONE]
    assert {words[1] for words in done} == ALONE
    assert [words for words in done if main(words)] == []
    told = " ".join(capsys.readouterr().out.split())
    assert "gpu-uncorrected-ecc-again: isolate, replace_node, resume_job" in told
    lines = "".join(blocks("text")).splitlines()
    assert len(lines) == 9
    assert [line for line in lines if " ".join(line.split()) not in told] == []


def test_without_a_node_in_its_place_lint_says_who_waits(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file,) = desk.iterdir()
    file.write_text(file.read_text().replace("replace_node, ", ""))
    assert main(["policy", "lint", str(desk)]) == 0
    assert "L323 note: do:" in capsys.readouterr().out


def test_every_act_that_the_page_names_as_done_is_carried_out() -> None:
    named = {Action(word) for word in re.findall(r"`([a-z_]+)`", PAGE) if word in set(Action)}
    assert named - CARRIED_OUT == {Action.REQUEUE_JOB}

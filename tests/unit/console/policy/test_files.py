"""Which files of a folder are policies: whatever else lies there neither hangs a command nor stops it."""

import io
import json
import os
import sys
from pathlib import Path

import pytest

from console.main import main
from console.policy.files import MOST_FILES, files_of
from policies.contract.errors import BadInputError
from tests.tools.envelopes import SHIPPED

GOOD = min(SHIPPED.glob("*.yaml")).read_text()


def test_what_is_no_file_of_a_policy_is_left_out(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yml"):
        (tmp_path / name).write_text(GOOD)
    for name in ("c.yaml.orig", "d.yamll", "e.txt", ".#a.yaml", ".a.yaml.part", "README.md"):
        (tmp_path / name).write_text("not mine")
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "deeper.yaml").write_text(GOOD)
    os.mkfifo(tmp_path / "pipe.yaml")  # who opens it for reading waits for ever
    (tmp_path / "link.yaml").symlink_to("a.yaml")
    assert [file.name for file in files_of([tmp_path])] == ["a.yaml", "b.yml", "link.yaml"]


@pytest.mark.parametrize("command", ["lint", "test", "list"])
@pytest.mark.parametrize("target", ["nowhere.yaml", "link.yaml"], ids=["to nowhere", "to itself"])
def test_a_link_that_leads_nowhere_is_told_of(
    tmp_path: Path, target: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "link.yaml").symlink_to(target)
    (tmp_path / "good.yaml").write_text(GOOD)
    assert main(["policy", command, str(tmp_path)]) == 1
    assert f"{tmp_path}/link.yaml: cannot be read: " in capsys.readouterr().err


def test_a_folder_of_something_else_is_refused_before_it_takes_an_hour(tmp_path: Path) -> None:
    for number in range(MOST_FILES + 1):
        (tmp_path / f"{number}.yaml").touch()
    with pytest.raises(BadInputError, match="1001 files, and at most 1000 are taken"):
        files_of([tmp_path])


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("words", [["lint"], ["lint", "--json"], ["list", "--json"], ["test"]], ids=" ".join)
def test_a_name_that_is_no_text_can_be_shown(
    tmp_path: Path, words: list[str], encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / os.fsdecode("w-ü-→-🔥.yaml".encode() + b"\xff.yaml")).write_text(GOOD)
    shown = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", shown)
    assert main(["policy", words[0], str(tmp_path), *words[1:]]) == 0
    shown.flush()
    text = shown.buffer.getvalue().decode(encoding)
    assert text
    if "--json" in words:
        json.loads(text)

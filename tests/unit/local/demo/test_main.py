"""How the demo leaves the machine, and what it says of that."""

import tempfile
from pathlib import Path

import pytest

from console import main as console
from local.demo import main as demo


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "data"
    made.mkdir()
    monkeypatch.setattr(tempfile, "mkdtemp", lambda prefix: str(made))
    return made


def run(monkeypatch: pytest.MonkeyPatch, *, keep: bool, interrupted: bool) -> int:
    def tell(*_args: object) -> int:
        if interrupted:
            raise KeyboardInterrupt
        return demo.DONE

    monkeypatch.setattr(demo, "_tell", tell)
    return demo.run_demo(report=None, as_json=True, keep=keep, deadline_seconds=30)


def test_data_that_is_kept_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, keep=True, interrupted=False) == 0
    assert str(folder) in capsys.readouterr().err
    assert folder.exists()


def test_an_interrupted_demo_leaves_nothing_and_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, keep=False, interrupted=True) == 130
    assert "nothing is left behind" in capsys.readouterr().err
    assert not folder.exists()


def test_a_demo_that_went_well_adds_no_word(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, keep=False, interrupted=False) == 0
    assert capsys.readouterr().err == ""
    assert not folder.exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--report", "no-such-folder/demo.json"], "name a file in a folder that is there"),
        (["--report", "."], "name a file in a folder that is there"),
        (["--archive", "no-such-folder/archive"], "name one in a folder that is there"),
        (["--archive", "/"], "name a new folder"),
        (["--archive", __file__], "name a new folder"),
        (["--deadline", "0"], "no number of seconds from 30 to 86400"),
        (["--deadline", "soon"], "no number of seconds from 30 to 86400"),
        (["--deadline", "inf"], "no number of seconds from 30 to 86400"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_started(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        console.main(["demo", *words])
    assert stopped.value.code == 2
    assert told in capsys.readouterr().err

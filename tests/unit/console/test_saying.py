"""What others wrote is shown, and drives no terminal."""

import ast
import json
import re
from pathlib import Path

import pytest

import console
from console.main import main
from console.policy.comparing import compare
from console.policy.history import tell_history
from console.saying import say
from tests.tools.editing import DOCUMENT, NAME, Desk, Person

Shown = pytest.CaptureFixture[str]
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
HOSTILE = "p\x1b]0;owned\x07\x1b[2Jq\x9b1m\r"


def test_controls_are_shown_as_such_and_lines_stay_lines(capsys: Shown) -> None:
    say(f"{HOSTILE}\tone\r\ntwo ü →")
    shown = capsys.readouterr().out
    assert not CONTROLS.search(shown)
    assert shown == "p�]0;owned��[2Jq�1m�\tone\ntwo ü →\n"


def test_what_is_explained_may_be_of_anybody(tmp_path: Path, capsys: Shown) -> None:
    event = tmp_path / "event.json"
    told = {"kind": "gpu.xid", "message": HOSTILE, "attributes": {"xid": 79, "process": HOSTILE}}
    event.write_text(json.dumps(told))
    assert main(["policy", "explain", "--event", str(event), "--all"]) == 0
    shown = capsys.readouterr().out
    assert "owned" in shown
    assert not CONTROLS.search(shown)


@pytest.mark.parametrize("words", ["policy explain --event", "archive stats", "archive pull past --from"])
def test_a_name_that_was_typed_comes_back_as_text(words: str, capsys: Shown) -> None:
    assert main([*words.split(), f"no/{HOSTILE}"]) in {1, 2}
    shown = capsys.readouterr().err
    assert "owned" in shown
    assert not CONTROLS.search(shown)


def test_what_somebody_wrote_into_the_table_drives_no_terminal(tmp_path: Path, capsys: Shown) -> None:
    desk = Desk()
    kim = Person(desk, tmp_path / "kim", DOCUMENT)
    kim.push(reason=HOSTILE)
    desk.in_console(why=HOSTILE)
    assert kim.push() == 1
    tell_history(desk.table, NAME, as_json=False)
    compare(desk.table, [NAME], "1..2", as_json=False)
    kim.roll_back()
    shown = capsys.readouterr()
    assert shown.out.count("owned") >= 4
    assert not CONTROLS.search(shown.out + shown.err)


@pytest.mark.parametrize("words", ["lint", "test", "list", "push --table none"])
def test_what_stands_in_a_file_drives_no_terminal(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Shown
) -> None:
    monkeypatch.chdir(tmp_path)
    example = {"says": HOSTILE, "events": [{"kind": "gpu.held", "message": HOSTILE}], "findings": 1}
    for name, more in (("bad", {HOSTILE: 1, "mode": HOSTILE}), ("good", {"when": "event.message == 'x'"})):
        made = {**DOCUMENT, "name": name, "examples": [example], **more}
        Path(f"{name}-\x1b[2J.yaml").write_text(json.dumps(made))
    command, *options = words.split()
    assert main(["policy", command, ".", *options]) in {0, 1, 2}
    shown = capsys.readouterr()
    assert "�[2J" in shown.out + shown.err
    assert not CONTROLS.search(shown.out + shown.err)


WRITES = {"shown", "json.dumps", "as_yaml", "yaml", "told.text", "answer"}
"""What is printed as it is: what went through `say`, JSON and YAML, which show each control as an escape."""


def test_nothing_of_the_console_is_printed_but_through_say() -> None:
    """Or the next line that shows a name of somebody's file, run or process would drive the terminal again."""
    found = [
        f"{file}:{call.lineno} prints {ast.unparse(call.args[0])}"
        for file in sorted(Path(console.__path__[0]).rglob("*.py"))
        for call in ast.walk(ast.parse(file.read_text()))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "print"
        if ast.unparse(call.args[0]).partition("(")[0] not in WRITES
    ]
    assert found == []

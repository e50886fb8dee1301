"""A push or a pull that is stopped between any two steps is done by doing it again, and nobody's file is lost."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from functions.twins.policies import MemoryPolicies
from policies.documents import BOOKKEEPING
from tests.tools.editing import DOCUMENT, NAME, OTHER, Desk, Person

THIRD = {**OTHER, "name": "a-third-one"}
ALL = (DOCUMENT, OTHER, THIRD)
Shown = pytest.CaptureFixture[str]


class Stopped:
    """Writes to *table*, until Ctrl-C is pressed before or after the write of this number."""

    def __init__(self, table: MemoryPolicies, *, writes: int, after: bool) -> None:
        self.write, self.left, self.after = table.replace_live, writes, after

    def __call__(self, before: Mapping[str, Any] | None, item: Mapping[str, Any]) -> None:
        self.left -= 1
        if self.left == 0 and not self.after:
            raise KeyboardInterrupt
        self.write(before, item)
        if self.left == 0:
            raise KeyboardInterrupt


def fields_of(table: MemoryPolicies) -> dict[str, dict[str, Any]]:
    return {
        name: {key: value for key, value in item.items() if key not in BOOKKEEPING}
        for name, item in table.live_items.items()
    }


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("writes", [1, 2, 3])
def test_a_push_goes_on_where_it_was_stopped(
    tmp_path: Path, writes: int, *, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Desk()
    Person(whole, tmp_path / "whole", *ALL).push()
    desk = Desk()
    monkeypatch.setattr(desk.table, "replace_live", Stopped(desk.table, writes=writes, after=after))
    kim = Person(desk, tmp_path / "kim", *ALL)
    with pytest.raises(KeyboardInterrupt):
        kim.push()
    desk.look()
    assert kim.push() == 0
    assert fields_of(desk.table) == fields_of(whole.table)
    assert {head.revision for head in desk.table.in_force.values()} == {1}, "nothing was written twice"
    kim.write({**DOCUMENT, "settle": "40s"})
    assert kim.push() == 0, "what it had written is its own"


def test_what_somebody_edited_after_it_was_stopped_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = Desk()
    kim = Person(desk, tmp_path / "kim", *ALL)
    kim.push()
    monkeypatch.setattr(desk.table, "replace_live", Stopped(desk.table, writes=1, after=False))
    kim.write({**DOCUMENT, "settle": "40s"})
    with pytest.raises(KeyboardInterrupt):
        kim.push()
    monkeypatch.undo()
    desk.in_console(priority=9)
    assert kim.push() == 1
    assert desk.fields()["priority"] == 9


@pytest.mark.parametrize("left", [0, 1, 2])
def test_a_pull_goes_on_where_it_was_stopped(tmp_path: Path, left: int, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk()
    Person(desk, tmp_path / "kim", *ALL).push()
    ann = Person(desk, tmp_path / "ann")
    reads = iter(range(10))
    live = desk.table.live

    def stopped(name: str) -> Mapping[str, Any] | None:
        if next(reads) == left:
            raise KeyboardInterrupt
        return live(name)

    monkeypatch.setattr(desk.table, "live", stopped)
    with pytest.raises(KeyboardInterrupt):
        ann.pull()
    monkeypatch.undo()
    assert ann.pull() == 0
    assert sorted(file.name for file in ann.folder.glob("*.yaml")) == sorted(f"{one['name']}.yaml" for one in ALL)
    assert not [file for file in ann.folder.iterdir() if file.name.endswith(".part")]
    assert ann.push() == 0
    assert {head.revision for head in desk.table.in_force.values()} == {1}


@pytest.mark.parametrize(
    "text", ["name: half\n\tedi", f"name: {OTHER['name']}-mine\n", ""], ids=["torn", "other", "empty"]
)
def test_a_pull_writes_over_no_file_that_is_something_else(tmp_path: Path, text: str, capsys: Shown) -> None:
    desk = Desk()
    Person(desk, tmp_path / "kim", DOCUMENT).push()
    ann = Person(desk, tmp_path / "ann")
    file = ann.folder / f"{NAME}.yaml"
    file.write_text(text)
    assert ann.pull() == 1
    assert file.read_text() == text
    assert "is there and is not this policy, or no YAML" in capsys.readouterr().err
    assert ann.pull(force=True) == 0
    assert f"name: {NAME}\n" in file.read_text()


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "marked"])
def test_a_file_with_the_line_ends_of_windows_keeps_them(tmp_path: Path, mark: bytes) -> None:
    desk = Desk()
    kim = Person(desk, tmp_path / "kim", DOCUMENT)
    file = kim.folder / f"{NAME}.yaml"
    file.write_bytes(mark + b"# ours\r\n" + file.read_bytes().replace(b"\n", b"\r\n"))
    before = file.read_bytes()
    assert kim.push() == 0
    desk.in_console(priority=9)
    assert kim.pull() == 0
    after = file.read_bytes()
    assert after.count(b"\n") == after.count(b"\r\n") == before.count(b"\n") + 1
    assert after.replace(b"priority: 9\r\n", b"") == before
    assert kim.push() == 0
    assert desk.head().revision == 2


def test_a_link_stays_a_link_and_a_file_keeps_who_may_read_it(tmp_path: Path) -> None:
    desk = Desk()
    kim = Person(desk, tmp_path / "kim", DOCUMENT)
    file, behind = kim.folder / f"{NAME}.yaml", tmp_path / "behind.yaml"
    file.rename(behind)
    behind.chmod(0o640)
    file.symlink_to(behind)
    kim.push()
    desk.in_console(priority=9)
    assert kim.pull() == 0
    assert file.is_symlink()
    assert "priority: 9" in behind.read_text()
    assert behind.stat().st_mode & 0o777 == 0o640


def test_a_pull_does_not_guess_which_of_two_files_is_meant(tmp_path: Path, capsys: Shown) -> None:
    desk = Desk()
    kim = Person(desk, tmp_path / "kim", DOCUMENT)
    kim.push()
    desk.in_console(priority=9)
    file = kim.folder / f"{NAME}.yaml"
    (kim.folder / "copy.yaml").write_bytes(file.read_bytes())
    before = {each.name: each.read_bytes() for each in kim.folder.iterdir()}
    assert kim.pull(force=True) == 1
    assert f"{NAME} stands in {kim.folder}/copy.yaml too: remove one." in capsys.readouterr().err
    assert {each.name: each.read_bytes() for each in kim.folder.iterdir()} == before


def test_a_push_that_was_stopped_while_it_waited_waits_again(tmp_path: Path) -> None:
    desk = Desk()
    kim = Person(desk, tmp_path / "kim", DOCUMENT, OTHER)
    with pytest.raises(KeyboardInterrupt):
        kim.push(wait_seconds=60, pause=_stopped)
    assert kim.push(wait_seconds=60) == 0
    verdicts = {name: one["verdict"]["status"] for name, one in kim.answer.policies.items()}
    assert verdicts == {NAME: "accepted", OTHER["name"]: "accepted"}
    assert kim.push(wait_seconds=60, pause=_stopped) == 0, "there is nothing to wait for"


def test_a_refusal_is_not_hidden_by_saying_the_same_again(tmp_path: Path, capsys: Shown) -> None:
    """By a guard that is stricter than who pushes: in the minutes of a deploy there is one."""
    desk = Desk()
    kim = Person(desk, tmp_path / "kim", DOCUMENT)
    kim.push()
    live = desk.table.live_items[NAME]
    desk.table.answer(NAME, live, {**live["verdict"], "status": "rejected"})
    assert kim.push(wait_seconds=60, pause=_stopped) == 1
    told = capsys.readouterr().out
    assert f"unchanged  {NAME}\nrejected   {NAME}" in told
    assert f"relight policy show {NAME}" in told
    assert kim.answer.policies[NAME]["verdict"]["status"] == "rejected"


def _stopped(_seconds: float) -> None:
    raise KeyboardInterrupt

"""An older revision that somebody changed or deleted by hand: what is told of the others stays true."""

import json

import pytest

from console.policy.history import show_revision, tell_history
from tests.tools.editing import DOCUMENT, NAME, Desk, Person

Shown = pytest.CaptureFixture[str]


@pytest.fixture
def kim(desk: Desk, kim: Person) -> Person:
    """Pushed four times; the third revision is not there to be read any more."""
    for settle in ("10s", "20s", "30s", "40s"):
        kim.write({**DOCUMENT, "settle": settle})
        assert kim.push() == 0
    del desk.table.kept[NAME, 3]
    return kim


def test_what_was_in_force_before_it_is_not_said_to_have_never_been(desk: Desk, kim: Person, capsys: Shown) -> None:
    capsys.readouterr()
    assert tell_history(desk.table, NAME, as_json=False) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("rev ")]
    assert [line.split()[1] for line in lines] == ["4", "2", "1", "3"]
    assert lines[-1] == "rev 3    cannot be read: its item was changed or deleted by hand."
    assert not any("never in force" in line for line in lines)
    assert tell_history(desk.table, NAME, as_json=True) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["unreadable"], [each["in_force"] for each in told["revisions"]]) == ([3], [True, True, True])
    assert show_revision(desk.table, NAME, 3, as_json=False) == 1
    assert f"revision 3 of {NAME} cannot be read" in capsys.readouterr().err
    del kim


def test_a_roll_back_does_not_go_past_it_unasked(desk: Desk, kim: Person, capsys: Shown) -> None:
    assert kim.roll_back() == 1
    assert "revision 3 cannot be read: its item was changed or deleted by hand. Go back to another with --to" in (
        capsys.readouterr().err
    )
    assert kim.roll_back(to=2) == 0
    assert desk.fields()["settle"] == "20s"
    assert kim.roll_back() == 0, "from there it is known what was before"
    assert desk.fields()["settle"] == "10s"

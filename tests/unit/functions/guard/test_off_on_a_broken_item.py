"""What takes power from a policy needs no sound item: off is off, whatever else on it is wrong."""

import pytest

from console.policy.edits import Editor, live_item
from functions.guard.mending import is_sound
from functions.ports.policies import UNKNOWN
from functions.triage.rulebooks import Rulebooks
from policies.contract.vocabulary import PolicyMode
from policies.documents import canonical, fingerprint
from tests.tools.envelopes import NOW
from tests.tools.policy_desk import DOCUMENT, NAME, Desk

BROKEN = {"settle": "soon"}
KIM = Editor("kim", NOW, "it fires too often")


@pytest.mark.parametrize("mode", ["off", "Off", " OFF ", False])
def test_off_applies_though_the_item_is_refused(mode: object) -> None:
    """In AWS's console the word may be a boolean, as in YAML."""
    desk = Desk()
    desk.put_and_rest(DOCUMENT)
    head = desk.put_and_rest({**DOCUMENT, **BROKEN, "mode": mode})
    assert (head.revision, head.mode) == (2, PolicyMode.OFF)
    assert head.document == canonical({**DOCUMENT, "mode": "off"})
    assert is_sound(head)
    assert (desk.verdict["status"], desk.verdict["revision"], desk.verdict["mode"]) == ("rejected", 2, "off")
    (notice,) = desk.notices.told.values()
    assert "an edit is refused, but it asks for off: revision 2 is off and otherwise as before." in notice.text
    assert Rulebooks(desk.table, desk.telemetry).current().rules == ()


def test_so_does_shadow_and_who_asked_is_kept() -> None:
    desk = Desk()
    desk.put_and_rest(DOCUMENT)
    head = desk.put_and_rest(live_item({**DOCUMENT, **BROKEN, "mode": "shadow"}, KIM))
    assert (head.mode, head.edit.by, head.edit.reason) == (PolicyMode.SHADOW, "kim", "it fires too often")
    assert desk.verdict["by"] == "kim"
    head = desk.put_and_rest({**DOCUMENT, **BROKEN, "mode": "off"})
    assert (head.revision, head.mode, head.edit.by) == (3, PolicyMode.OFF, UNKNOWN)


@pytest.mark.parametrize("mode", ["active", "shadow", "on", "offf", None, True, 0, ["off"], {"S": "off"}])
def test_what_gives_power_back_or_is_no_word_needs_a_sound_item(mode: object) -> None:
    desk = Desk()
    desk.put_and_rest({**DOCUMENT, "mode": "shadow"})
    before = desk.table.in_force[NAME]
    assert desk.put_and_rest({**DOCUMENT, **BROKEN, "mode": mode}) == before
    assert desk.verdict["revision"] == 1


def test_it_stays_off_until_a_sound_item_says_otherwise() -> None:
    desk = Desk()
    desk.put_and_rest(DOCUMENT)
    desk.put_and_rest({**DOCUMENT, **BROKEN, "mode": "off"})
    assert desk.put_and_rest({**DOCUMENT, **BROKEN, "mode": "active"}).mode is PolicyMode.OFF
    head = desk.put_and_rest({**DOCUMENT, "mode": "off"})
    assert (head.revision, desk.verdict["status"], desk.verdict["revision"]) == (2, "accepted", 2)
    assert head.hash == fingerprint(desk.table.live_items[NAME])
    assert desk.put_and_rest(DOCUMENT).mode is PolicyMode.ACTIVE


def test_without_anything_in_force_there_is_nothing_to_turn_off() -> None:
    desk = Desk()
    desk.table.put_live({**DOCUMENT, **BROKEN, "mode": "off"})
    desk.guard.look_at(NAME)
    assert (desk.table.in_force, desk.verdict["status"], desk.verdict["revision"]) == ({}, "rejected", 0)


def test_what_was_deleted_is_off_already() -> None:
    desk = Desk()
    desk.put_and_rest(DOCUMENT)
    del desk.table.live_items[NAME]
    desk.guard.look_at(NAME)
    before = desk.table.in_force[NAME]
    assert desk.put_and_rest({**DOCUMENT, **BROKEN, "mode": "off"}) == before


def test_four_hundred_kilobytes_of_junk_that_say_off_are_off() -> None:
    desk = Desk()
    desk.put_and_rest(DOCUMENT)
    assert (
        desk.put_and_rest({"name": NAME, "mode": "off", "junk": "x" * 399_000, "bytes": {b"\x00"}}).mode
        is PolicyMode.OFF
    )

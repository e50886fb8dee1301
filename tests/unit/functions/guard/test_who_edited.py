"""Who edited is believed only where the seal of a command fits; what people must hear of is told once."""

from datetime import timedelta
from typing import Any

import pytest

from console.policy.edits import Editor, live_item, pushed_from
from functions.adapters.policy_items import head_item, typed
from functions.guard.writes import Write
from functions.ports.policies import UNKNOWN
from policies.contract.times import format_time
from policies.coordination.switches import EVERYTHING
from policies.documents import sealed
from tests.tools.envelopes import NOW
from tests.tools.policy_desk import DOCUMENT, NAME, Desk

KIM = Editor("kim", NOW, "it fires too often")


def test_a_command_says_who_when_why_and_from_where() -> None:
    desk = Desk()
    edit = desk.put(live_item(DOCUMENT, KIM, pushed=pushed_from("our-policies", DOCUMENT, KIM.at))).edit
    assert (edit.by, edit.at, edit.reason) == ("kim", format_time(NOW), "it fires too often")
    assert (edit.source, edit.restored, edit.after) == ("our-policies", 0, 0)
    assert desk.table.live_items[NAME]["verdict"]["by"] == "kim"
    assert desk.put(live_item({**DOCUMENT, "priority": 5}, KIM, restored=3)).edit.restored == 3


@pytest.mark.parametrize("dated", [True, False], ids=["of today", "of a version before"])
@pytest.mark.parametrize("restored", [0, 1])
def test_what_a_push_left_on_the_item_makes_no_push_of_what_others_do_after_it(restored: int, *, dated: bool) -> None:
    desk = Desk()
    pushed = pushed_from("our-policies", DOCUMENT, KIM.at)
    pushed = pushed if dated else {key: value for key, value in pushed.items() if key != "at"}
    assert desk.put(live_item(DOCUMENT, KIM, pushed=pushed)).edit.source == "our-policies"
    ann = Editor("ann", NOW + timedelta(minutes=1))
    later = desk.put(live_item({**DOCUMENT, "mode": "shadow"}, ann, restored=restored, pushed=pushed))
    assert (later.edit.by, later.edit.source, later.edit.restored) == ("ann", "", restored)


def test_who_sets_a_mode_back_to_what_was_pushed_has_not_pushed_it() -> None:
    desk = Desk()
    pushed = pushed_from("our-policies", DOCUMENT, KIM.at)
    desk.put(live_item(DOCUMENT, KIM, pushed=pushed))
    for minute, mode in enumerate(("shadow", DOCUMENT["mode"]), start=1):
        ann = Editor("ann", NOW + timedelta(minutes=minute))
        assert desk.put(live_item({**DOCUMENT, "mode": mode}, ann, pushed=pushed)).edit.source == ""


def test_an_edit_in_the_console_is_nobodys_though_the_name_of_the_last_one_stands_there() -> None:
    desk = Desk()
    desk.put(live_item(DOCUMENT, KIM))
    head = desk.change(priority=5)
    assert desk.table.live_items[NAME]["edited_by"] == "kim"
    assert (head.revision, head.edit.by, head.edit.reason) == (2, UNKNOWN, "")


@pytest.mark.parametrize(
    "forged", [{"edited_by": "root"}, {"edit_mark": "0" * 32}, {"edit_mark": 7}, {"edited_by": {"S": "kim"}}]
)
def test_a_name_that_somebody_wrote_there_by_hand_is_not_believed(forged: dict[str, Any]) -> None:
    assert Desk().put({**live_item(DOCUMENT, KIM), **forged}).edit.by == UNKNOWN


def test_a_whole_item_of_last_week_that_is_pasted_again_is_nobodys() -> None:
    desk = Desk()
    old = live_item(DOCUMENT, KIM)
    desk.put(old)
    desk.put(live_item({**DOCUMENT, "priority": 5}, Editor("ann", NOW)))
    head = desk.put(old)
    assert (head.revision, head.edit.by) == (3, UNKNOWN)
    assert desk.put(live_item({**DOCUMENT, "priority": 5}, Editor("ann", NOW + timedelta(hours=1)))).edit.by == "ann"


def test_an_item_under_another_name_is_another_policy_and_judged_anew() -> None:
    desk = Desk()
    desk.put(live_item(DOCUMENT, KIM))
    pasted = {**desk.table.live_items[NAME], "name": "xid-79-copy"}
    desk.table.put_live(pasted)
    desk.guard.look_at("xid-79-copy")
    assert desk.table.in_force["xid-79-copy"].edit.by == UNKNOWN
    assert desk.table.live_items["xid-79-copy"]["verdict"]["hash"] != desk.table.live_items[NAME]["verdict"]["hash"]


def test_a_refused_edit_is_told_once_with_its_reasons() -> None:
    desk = Desk()
    desk.put(live_item(DOCUMENT, KIM))
    desk.change(when='event.kind == "gpu.xidd"', count={"at_least": 0})
    desk.look()
    (notice,) = desk.notices.told.values()
    assert (notice.kind, notice.policy, notice.by) == ("rejected", NAME, UNKNOWN)
    assert f"{NAME}: an edit is refused, revision 1 stays in force. count.at_least:" in notice.text
    assert [one["path"] for one in notice.detail["problems"]] == ["count.at_least", "when"]


def test_the_same_mistake_an_hour_later_is_told_again() -> None:
    desk = Desk()
    for _again in range(2):
        desk.put(live_item(DOCUMENT, KIM))
        desk.change(settle="soon")
    assert desk.told() == ["rejected by unknown"] * 2
    assert desk.table.in_force[NAME].revision == 1


def test_a_refused_edit_of_a_command_names_who() -> None:
    desk = Desk()
    desk.put(live_item(DOCUMENT, KIM))
    desk.put(live_item({**DOCUMENT, "settle": "soon"}, KIM))
    (notice,) = desk.notices.told.values()
    assert (notice.by, "an edit by kim is refused" in notice.text) == ("kim", True)


def test_a_deletion_is_told_once_and_again_when_it_happens_again() -> None:
    desk = Desk()
    for _again in range(2):
        desk.put(live_item(DOCUMENT, KIM))
        del desk.table.live_items[NAME]
        desk.look()
        desk.look()
    assert desk.told() == ["deleted by unknown"] * 2
    assert f"relight policy rollback {NAME}" in next(iter(desk.notices.told.values())).text


def test_who_stops_everything_is_told_and_who_starts_it_again() -> None:
    desk = Desk()
    for mode in ("off", "off", "active"):
        desk.table.put_live(live_item({"name": EVERYTHING, "mode": mode, "reason": "a bad image"}, KIM))
        desk.guard.look_at(EVERYTHING)
        desk.guard.look_at(EVERYTHING)
        desk.now += timedelta(minutes=1)
    told = [(each.kind, each.text) for each in desk.notices.told.values()]
    assert told[0] == (
        "stopped",
        "Everything is stopped by kim: a bad image. `relight policy start` ends that.",
    )
    assert told[-1] == ("started", "Policies act again by kim.")


def test_who_deletes_the_switch_starts_everything_and_people_hear_of_it_once_each_time() -> None:
    """Without its item nothing is stopped: a stop that somebody takes away so must not end in silence."""
    desk = Desk()
    for minute in range(2):
        at = NOW.replace(microsecond=0) + timedelta(minutes=minute)
        desk.table.put_live(live_item({"name": EVERYTHING, "mode": "off"}, KIM))
        desk.guard.look_at(EVERYTHING)
        del desk.table.live_items[EVERYTHING]
        for _again in range(2):
            desk.guard.look_at(EVERYTHING, [Write(at, "mark", "")])
        desk.guard.look_at(EVERYTHING)
        desk.now += timedelta(minutes=1)
    told = [each.text for each in desk.notices.told.values() if each.kind == "started"]
    assert told == ["The switch of everything was deleted: policies act again, as without it."] * 2


@pytest.mark.parametrize(
    "forged",
    [
        {"restored": 10**125},
        {"restored": -1},
        {"edited_by": "kim\x1b[2K\nroot", "edit_reason": "\x00\u202e why"},
    ],
)
def test_a_seal_vouches_for_nothing_that_breaks_a_table_or_a_terminal(forged: dict[str, Any]) -> None:
    desk = Desk()
    edit = desk.put(sealed({**live_item(DOCUMENT, KIM), **forged})).edit
    assert edit.restored == 0
    assert all(text.isprintable() for text in (edit.by, edit.reason, edit.at))
    assert typed(head_item(desk.table.in_force[NAME], "head"))


def test_a_verdict_with_words_that_are_not_the_guards_is_written_anew() -> None:
    desk = Desk()
    desk.put(live_item(DOCUMENT, KIM))
    verdict = desk.table.live_items[NAME]["verdict"]
    for forged in (
        {**verdict, "note": "kim was here"},
        "accepted",
        [verdict],
        {**verdict, "at": 7},
        {**verdict, "problems": {}},
    ):
        desk.change(verdict=forged)
        stands = desk.table.live_items[NAME]["verdict"]
        assert {**stands, "at": ""} == {**verdict, "at": ""}
    assert desk.table.in_force[NAME].revision == 1

"""What the stream never told of is found: a deletion first, then edits; and where all is settled nothing is written."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from functions.guard.catching_up import CHUNK, LONGEST, PARTS, READ, TURNS, catch_up
from functions.guard.guard import Guard
from functions.ports.policies import Heading
from functions.twins.notices import MemoryNotices
from functions.twins.policies import MemoryPolicies
from functions.twins.triage import MemoryTelemetry
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import PolicyMode
from policies.coordination.switches import EVERYTHING
from policies.documents import fingerprint
from tests.tools.envelopes import NOW

PLAIN = {"mode": "active", "why": "A test.", "when": 'event.kind == "gpu.lost"', "do": ["alert"]}


class Desk:
    """A table whose stream nobody reads."""

    def __init__(self) -> None:
        self.table: MemoryPolicies = MemoryPolicies()
        self.telemetry, self.notices = MemoryTelemetry(), MemoryNotices()
        self.now = NOW
        self.guard = Guard(self.table, self.notices, self.telemetry, self.clock)
        self.looked_at: list[str] = []
        self.takes = timedelta(0)
        self.look_first: Callable[[str], object] = len  # what the stream's guard does meanwhile

    def clock(self) -> datetime:
        return self.now

    def put(self, name: str, **fields: Any) -> None:  # noqa: ANN401 - fields of a document
        self.table.put_live({"name": name, **PLAIN, **fields})

    def look_at(self, name: str) -> bool:
        self.looked_at.append(name)
        self.now += self.takes
        self.look_first(name)
        return self.guard.look_at(name)

    def catch_up(self) -> list[str]:
        self.looked_at = []
        catch_up(self.table, self.look_at, self.telemetry, self.clock)
        return self.looked_at

    def modes(self) -> dict[str, PolicyMode]:
        return {name: head.mode for name, head in self.table.in_force.items()}


def test_edits_of_two_days_without_a_guard_are_judged_and_deletions_come_first() -> None:
    desk = Desk()
    for name in ("kept", "deleted", "edited", "broken"):
        desk.put(name)
        desk.guard.look_at(name)
    del desk.table.live_items["deleted"]
    desk.put("edited", mode="shadow")
    desk.put("broken", settle="soon")
    desk.put("added")
    assert desk.catch_up() == ["deleted", "broken", "edited", "added"]
    assert desk.modes() == {
        "kept": PolicyMode.ACTIVE,
        "deleted": PolicyMode.OFF,
        "edited": PolicyMode.SHADOW,
        "broken": PolicyMode.ACTIVE,
        "added": PolicyMode.ACTIVE,
    }
    assert desk.table.live_items["broken"]["verdict"]["status"] == "rejected"
    assert desk.telemetry.counts["PoliciesCaughtUp"] == 4


def test_where_all_is_settled_only_what_is_refused_is_looked_at_and_nothing_changes() -> None:
    desk = Desk()
    desk.put("good")
    desk.put("bad", settle="soon")
    desk.put(EVERYTHING, mode="active")
    desk.put("gone")
    desk.guard.look_at("gone")
    del desk.table.live_items["gone"]
    desk.catch_up()
    before = (dict(desk.table.live_items), dict(desk.table.in_force), dict(desk.notices.told))
    desk.telemetry.counts.clear()
    assert "good" not in desk.catch_up()
    assert (desk.table.live_items, desk.table.in_force, desk.notices.told) == before
    assert desk.telemetry.counts == {"PoliciesNotLookedAt": 0}, "which is said, or four in a row could not be told"


def test_over_a_day_each_policy_is_looked_at_so_that_what_was_changed_by_hand_is_mended() -> None:
    desk = Desk()
    names = [f"p-{at}" for at in range(40)]
    for name in names:
        desk.put(name)
        desk.guard.look_at(name)
    head = desk.table.in_force["p-7"]
    desk.table.in_force["p-7"] = replace(head, document=head.document.replace("gpu.lost", "gpu.reset"))
    looked_at: list[str] = []
    for _quarter in range(TURNS):
        looked_at += desk.catch_up()
        desk.now += timedelta(minutes=15)
    assert sorted(looked_at) == sorted(names)
    assert desk.table.in_force["p-7"] == head
    assert [notice.kind for notice in desk.notices.told.values()] == ["mended"]


def test_a_verdict_that_somebody_pasted_hides_no_edit() -> None:
    desk = Desk()
    desk.put("p")
    desk.guard.look_at("p")
    for status in ("accepted", "rejected"):
        item = {"name": "p", **PLAIN, "priority": 1 + len(status)}
        forged: dict[str, Any] = {
            "status": status,
            "revision": 1,
            "hash": fingerprint(item),
            "problems": [],
            "by": "kim",
            "at": "now",
        }
        desk.table.put_live({**item, "verdict": forged})
        assert desk.catch_up() == ["p"]
        assert desk.table.in_force["p"].hash == fingerprint(item)


def test_a_table_full_of_junk_does_not_keep_it_from_what_matters() -> None:
    desk = Desk()
    desk.put("zz-deleted")
    desk.guard.look_at("zz-deleted")
    del desk.table.live_items["zz-deleted"]
    for at in range(100):
        desk.put(f"junk-{at:03}", settle="soon")
    desk.takes = timedelta(seconds=1)
    assert desk.catch_up()[0] == "zz-deleted"
    assert len(desk.looked_at) == LONGEST.total_seconds()


def test_those_that_there_was_no_time_for_are_counted_and_named() -> None:
    desk = Desk()
    for at in range(50):
        desk.put(f"junk-{at:02}", settle="soon")
    desk.catch_up()
    assert desk.telemetry.counts["PoliciesNotLookedAt"] == 0
    desk.takes = timedelta(seconds=1)
    looked_at = desk.catch_up()
    assert desk.telemetry.counts["PoliciesNotLookedAt"] == 50 - len(looked_at) == 30
    (fields,) = [fields for text, fields in desk.telemetry.remarks if "not all policies" in text]
    left = sorted(desk.table.live_items.keys() - set(looked_at))
    assert fields["policies"] == ", ".join(left[:10])


def test_the_one_that_the_table_refuses_each_time_keeps_none_from_being_judged_and_is_told() -> None:
    desk = Desk()
    for name in ("a", "b", "c"):
        desk.put(name)

    def look_at(name: str) -> bool:
        if name == "a":
            raise DependencyError("its listing has no room.")
        return desk.look_at(name)

    with pytest.raises(DependencyError, match="no room"):
        catch_up(desk.table, look_at, desk.telemetry, desk.clock)
    assert desk.modes() == {"b": PolicyMode.ACTIVE, "c": PolicyMode.ACTIVE}


def test_the_one_that_breaks_the_guard_does_not_stop_the_others() -> None:
    desk = Desk()
    desk.put("a")
    desk.put("b")
    desk.table.heading = lambda name: 1 / 0 if name == "a" else None  # type: ignore[method-assign,assignment,return-value]
    desk.catch_up()
    assert desk.looked_at == ["a", "b"]
    assert desk.telemetry.counts["PoliciesNotJudged"] == 1


def test_a_broken_line_of_the_listing_keeps_nothing_from_being_judged_and_is_written_anew() -> None:
    desk = Desk()
    for name in ("a", "p", "q", "r"):
        desk.put(name)
        desk.guard.look_at(name)
    before = dict(desk.table.listing)
    for name in ("a", "r"):
        desk.put(name, settle="soon")
        desk.guard.look_at(name)
    for name in ("p", "r"):
        desk.table.listing[name] = Heading.unreadable(name)
    desk.put("q", mode="off")
    assert desk.catch_up() == ["p", "q", "r", "a"], "what is only refused is last"
    assert [desk.table.listing[name] for name in "apr"] == [before[name] for name in "apr"]
    assert desk.modes()["q"] is PolicyMode.OFF
    assert desk.telemetry.counts["PoliciesCaughtUp"] == 3


class Large(MemoryPolicies):
    """Each page of a scan takes its time, and there are many without an item that anybody edits."""

    def __init__(self, desk: Desk, page: timedelta, empty: int = 0) -> None:
        super().__init__()
        self.desk, self.page, self.empty = desk, page, empty

    def names_in(self, part: int, parts: int) -> Iterator[Sequence[str]]:
        for names in [*([[]] * self.empty), *super().names_in(part, parts)]:
            self.desk.now += self.page
            yield names


def test_however_large_the_table_what_was_ever_accepted_is_looked_at_and_the_scan_ends_in_time() -> None:
    desk = Desk()
    desk.table = Large(desk, timedelta(seconds=1), empty=1000)
    desk.guard = Guard(desk.table, desk.notices, desk.telemetry, desk.clock)
    for name in ("deleted", "edited", "refused"):
        desk.put(name)
        desk.guard.look_at(name)
    del desk.table.live_items["deleted"]
    desk.put("edited", mode="off")
    desk.put("refused", settle="soon")
    desk.guard.look_at("refused")
    began = desk.now
    assert desk.catch_up() == ["deleted", "edited", "refused"]
    assert desk.now - began == READ < LONGEST
    assert desk.telemetry.counts["PoliciesNotLookedAt"] == 1, "the first part came to no end"
    assert any("not all policies" in text for text, _fields in desk.telemetry.remarks)


def test_of_more_policies_than_can_be_read_in_time_each_is_read_some_time_and_none_is_taken_for_deleted() -> None:
    desk = Desk()
    desk.put("p")
    desk.guard.look_at("p")
    head = desk.table.in_force["p"]
    names = [f"p-{at:04}" for at in range(5 * CHUNK)]
    for name in names:
        desk.put(name)
        mine = replace(head, name=name, hash=fingerprint(desk.table.live_items[name]))
        desk.table.in_force[name] = desk.table.kept[name, 1] = mine
        desk.table.list_head(mine)
    lives = desk.table.lives

    def slow(names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
        desk.now += READ / 2
        return lives(names)

    desk.table.lives = slow  # type: ignore[method-assign]
    looked_at = set[str]()

    def look_at(name: str) -> bool:
        assert name in desk.table.live_items
        looked_at.add(name)
        return False

    for quarter in range(0, TURNS, TURNS // 6):
        desk.now = NOW.replace(minute=0) + quarter * timedelta(minutes=15)
        catch_up(desk.table, look_at, desk.telemetry, desk.clock)
    assert looked_at >= set(names)
    assert desk.telemetry.counts["PoliciesNotLookedAt"] > 6 * CHUNK
    assert any("not all policies" in text for text, _fields in desk.telemetry.remarks)


def test_what_was_never_accepted_is_found_though_each_scan_is_cut() -> None:
    desk = Desk()
    desk.table = Large(desk, timedelta(seconds=2))
    desk.guard = Guard(desk.table, desk.notices, desk.telemetry, desk.clock)
    names = [f"p-{at:02}" for at in range(24)]
    for name in names:
        desk.put(name, settle="soon")
    looked_at: set[str] = set()
    for _quarter in range(PARTS):
        desk.now = desk.now.replace(minute=desk.now.minute // 15 * 15) + timedelta(minutes=15)
        looked_at.update(desk.catch_up())
    assert sorted(looked_at) == names
    assert desk.telemetry.counts["PoliciesNotLookedAt"] < PARTS / 4, "a scan that goes round leaves none for good"


def test_an_edit_that_the_streams_guard_judges_meanwhile_was_not_missed() -> None:
    desk = Desk()
    desk.put("fresh")
    desk.look_first = desk.guard.look_at
    assert desk.catch_up() == ["fresh"]
    assert desk.telemetry.counts["PoliciesCaughtUp"] == 0
    assert desk.telemetry.remarks == []


def test_the_switch_is_looked_at_though_no_listing_names_it() -> None:
    desk = Desk()
    desk.table = Large(desk, LONGEST)
    desk.guard = Guard(desk.table, desk.notices, desk.telemetry, desk.clock)
    desk.put("junk", settle="soon")
    desk.put(EVERYTHING, mode="off")
    assert desk.catch_up()[0] == EVERYTHING

"""What the stream never told of is found: a deletion first, then edits; and where all is settled nothing is written."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from functions.guard.catching_up import LONGEST, TURNS, catch_up
from functions.guard.guard import Guard
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
        self.table, self.telemetry, self.notices = MemoryPolicies(), MemoryTelemetry(), MemoryNotices()
        self.now = NOW
        self.guard = Guard(self.table, self.notices, self.telemetry, self.clock)
        self.looked_at: list[str] = []
        self.takes = timedelta(0)

    def clock(self) -> datetime:
        return self.now

    def put(self, name: str, **fields: Any) -> None:  # noqa: ANN401 - fields of a document
        self.table.put_live({"name": name, **PLAIN, **fields})

    def look_at(self, name: str) -> None:
        self.looked_at.append(name)
        self.guard.look_at(name)
        self.now += self.takes

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
    assert desk.catch_up() == ["deleted", "added", "broken", "edited"]
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
    assert "PoliciesCaughtUp" not in desk.telemetry.counts


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


def test_the_one_that_the_table_refuses_each_time_keeps_none_from_being_judged_and_is_told() -> None:
    desk = Desk()
    for name in ("a", "b", "c"):
        desk.put(name)

    def look_at(name: str) -> None:
        if name == "a":
            raise DependencyError("its listing has no room.")
        desk.look_at(name)

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

"""What only the guard writes is put right within a look, and somebody hears of it."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from functions.guard.guard import Guard
from functions.ports.policies import Head, Heading, Seen
from functions.twins.notices import MemoryNotices
from functions.twins.policies import MemoryPolicies
from functions.twins.triage import MemoryTelemetry
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import PolicyMode
from policies.documents import canonical, fingerprint
from tests.tools.envelopes import NOW, shipped_documents

DOCUMENT = {**next(one for one in shipped_documents() if one["name"].startswith("xid-79")), "mode": "active"}
NAME = DOCUMENT["name"]


class Table(MemoryPolicies):
    """Refuses now and then."""

    refuses = 0  # so many times it takes no restored head

    def restore(self, head: Head, seen: Seen) -> None:
        if self.refuses:
            self.refuses -= 1
            raise DependencyError("the table does not answer.", hint="Try again.")
        super().restore(head, seen)


class Desk:
    now = NOW

    def __init__(self) -> None:
        self.table, self.telemetry, self.notices = Table(), MemoryTelemetry(), MemoryNotices()
        self.guard = Guard(self.table, self.notices, self.telemetry, lambda: self.now)
        for priority in (1, 2):
            self.table.put_live({**DOCUMENT, "priority": priority})
            self.guard.look_at(NAME)

    def change(self, **fields: object) -> None:
        head = self.table.in_force[NAME]
        self.table.in_force[NAME] = replace(head, **fields)  # type: ignore[arg-type]


def edited() -> str:
    return canonical({**DOCUMENT, "priority": 9})


def forget(desk: Desk) -> None:
    del desk.table.in_force[NAME]


def drop_line(desk: Desk) -> None:
    del desk.table.listing[NAME]


def unreadable(desk: Desk) -> None:
    desk.table.broken[NAME] = "junk"


@pytest.mark.parametrize(
    "harm",
    [
        lambda desk: desk.change(document=edited()),
        lambda desk: desk.change(document=edited(), hash=fingerprint(json.loads(edited()))),
        lambda desk: desk.change(mode=PolicyMode.OFF),
        lambda desk: desk.change(document="junk"),
        lambda desk: desk.change(document="[]"),
        lambda desk: desk.change(revision=7),
        forget,
        unreadable,
        lambda desk: desk.table.listing.update({NAME: Heading(NAME, 9, "x", PolicyMode.OFF)}),
        lambda desk: desk.table.listing.update({NAME: Heading.unreadable(NAME)}),
    ],
)
def test_what_is_in_force_again_is_what_the_guard_accepted(harm: Callable[[Desk], None]) -> None:
    desk = Desk()
    before, line = desk.table.in_force[NAME], desk.table.listing[NAME]
    harm(desk)
    desk.guard.look_at(NAME)
    assert (desk.table.in_force[NAME], desk.table.listing[NAME]) == (before, line)
    assert [each.kind for each in desk.notices.told.values()] == ["mended"]
    desk.guard.look_at(NAME)
    assert desk.telemetry.counts["PoliciesMended"] == 1


@pytest.mark.parametrize("harm", [forget, unreadable, lambda desk: desk.change(mode=PolicyMode.OFF)])
def test_a_damage_that_could_not_be_put_right_at_once_is_told_once(harm: Callable[[Desk], None]) -> None:
    desk = Desk()
    harm(desk)
    desk.table.refuses = 2
    for _try in range(2):
        with pytest.raises(DependencyError):
            desk.guard.look_at(NAME)
        desk.now += timedelta(seconds=70)
    desk.guard.look_at(NAME)
    assert [each.kind for each in desk.notices.told.values()] == ["mended"]
    desk.change(document="other junk")
    desk.guard.look_at(NAME)
    assert len(desk.notices.told) == 2


def test_whoever_does_the_same_on_another_day_is_told_of_again() -> None:
    desk = Desk()
    for _day in range(2):
        desk.change(mode=PolicyMode.OFF)
        desk.guard.look_at(NAME)
        desk.now += timedelta(days=1)
    assert [each.kind for each in desk.notices.told.values()] == ["mended", "mended"]


@pytest.mark.parametrize(
    "harm", [drop_line, lambda desk: desk.table.listing.update({NAME: Heading(NAME, 1, "x", PolicyMode.OFF)})]
)
def test_a_line_of_the_listing_that_lags_is_written_again(harm: Callable[[Desk], None]) -> None:
    desk = Desk()
    line = desk.table.listing[NAME]
    harm(desk)
    desk.guard.look_at(NAME)
    assert desk.table.listing[NAME] == line


def test_a_revision_that_was_changed_is_written_again_from_the_head() -> None:
    desk = Desk()
    before = desk.table.kept[NAME, 2]
    desk.table.kept[NAME, 2] = replace(before, document="junk")
    desk.guard.look_at(NAME)
    assert desk.table.kept[NAME, 2] == before


def test_when_nothing_is_left_the_item_is_judged_anew_and_without_it_the_policy_is_off() -> None:
    for deleted in (False, True):
        desk = Desk()
        desk.change(document="junk")
        for key, head in desk.table.kept.items():
            desk.table.kept[key] = replace(head, document="junk")
        if deleted:
            del desk.table.live_items[NAME]
        desk.guard.look_at(NAME)
        head = desk.table.in_force[NAME]
        assert head.mode is (PolicyMode.OFF if deleted else PolicyMode.ACTIVE)
        assert head.revision > 2
        assert desk.table.listing[NAME].revision == head.revision


def test_a_policy_whose_head_and_line_are_gone_goes_on_after_its_last_revision() -> None:
    desk = Desk()
    for priority in range(3, 9):
        desk.table.put_live({**DOCUMENT, "priority": priority})
        desk.guard.look_at(NAME)
    forget(desk)
    drop_line(desk)
    desk.table.put_live({**DOCUMENT, "priority": 50})
    desk.guard.look_at(NAME)
    assert desk.table.in_force[NAME].revision == 9
    assert desk.table.listing[NAME].revision == 9

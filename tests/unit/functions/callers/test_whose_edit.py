"""Whose edit a revision was: never somebody picked out of several, and the same in whatever order it is learned."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import hypothesis.strategies as st
from hypothesis import given, settings

from console.policy.edits import Editor, live_item
from console.policy.past import past_of
from console.policy.seen_by_aws import Seen, named
from functions.adapters.policy_items import typed
from functions.callers.callers import Callers
from functions.callers.matching import APART, Whose
from functions.guard.changes import handle_changes
from functions.guard.guard import Guard
from functions.ports.calls import ANY, Call
from functions.ports.policies import UNKNOWN
from functions.twins.notices import MemoryNotices
from functions.twins.policies import MemoryPolicies
from functions.twins.triage import MemoryTelemetry
from tests.tools.envelopes import NOW
from tests.tools.trail import body, detail, session

NAME = "ours"
PLAIN = {"name": NAME, "mode": "active", "why": "A test.", "when": 'event.kind == "gpu.lost"', "do": ["alert"]}
START = NOW.replace(microsecond=0)


class World:
    """The table with its stream, the guard at its end, and the trail of who called."""

    def __init__(self) -> None:
        self.table, self.telemetry, self.now = MemoryPolicies(), MemoryTelemetry(), START
        self.notices = MemoryNotices()
        self.guard = Guard(self.table, MemoryNotices(), self.telemetry, lambda: self.now)
        self.callers = Callers(self.table.noted, self.notices, self.telemetry, own=frozenset())
        self.stream: list[dict[str, Any]] = []
        self.trail: list[dict[str, Any]] = []

    def edit(self, who: str, item: Mapping[str, Any] | None, *, skew: int = 0) -> None:
        """Write *item* (None: delete it), as *who*; *skew* is how far CloudTrail's clock is off, in seconds."""
        before = self.table.live(NAME)
        if item is None:
            self.table.live_items.pop(NAME, None)
        else:
            self.table.put_live({**PLAIN, **item})
        action = "PutItem" if item is not None else "DeleteItem"
        seen: dict[str, Any] = {"eventID": f"e{len(self.trail)}", "eventName": action}
        self.trail.append(detail(self.now + timedelta(seconds=skew), NAME, session(who), **seen))
        self._record(before)

    def look(self) -> None:
        """Let the guard follow the stream to its end."""
        for _again in range(9):
            batch, self.stream = self.stream, []
            if not batch:
                return
            before = self.table.live(NAME)
            assert handle_changes({"Records": batch}, self.guard.look_at, self.guard.tell_lost) == []
            self._record(before)
        raise AssertionError("the guard takes its own writes for edits")

    def tell(self, records: Sequence[dict[str, Any]]) -> None:
        messages = [{"messageId": str(at), "body": body(each)} for at, each in enumerate(records)]
        assert self.callers.take(messages) == []

    def whose(self) -> list[tuple[str, Whose]]:
        """Return who each revision says it was by, and whose call it was, oldest first."""
        past = past_of(self.table.head(NAME), self.table.revisions(NAME))
        seen = Seen(past, self.table.calls_of(NAME))
        return [(each.head.edit.by, seen.whose(each)) for each in reversed(past)]

    def shown(self) -> list[str]:
        return [named(*each).replace(" (SSO Admin)", "") for each in self.whose()]

    def wait(self, seconds: float = 60) -> None:
        self.now += timedelta(seconds=seconds)

    def _record(self, before: Mapping[str, Any] | None) -> None:
        after = self.table.live(NAME)
        if before == after:
            return
        images = {"OldImage": before, "NewImage": after}
        change = {name: typed({**image, "sk": "live"}) for name, image in images.items() if image is not None}
        keys = {"name": {"S": NAME}, "sk": {"S": "live"}}
        at = int(self.now.timestamp())
        self.stream.append(
            {"dynamodb": {**change, "Keys": keys, "SequenceNumber": "1", "ApproximateCreationDateTime": at}}
        )


def test_an_edit_in_the_console_has_a_name_when_cloudtrail_tells_and_none_before() -> None:
    world = World()
    world.edit("kim", {})
    world.look()
    assert world.shown() == [UNKNOWN]
    world.tell(world.trail)
    assert world.shown() == ["kim (CloudTrail)"]


def test_two_who_edit_in_one_second_are_both_told() -> None:
    world = World()
    world.edit("kim", {})
    world.look()
    world.edit("ann", {"priority": 1})
    world.look()
    world.tell(world.trail)
    assert world.shown() == ["one of ann (SSO Admin), kim (CloudTrail)".replace(" (SSO Admin)", "")] * 2


def test_edits_that_became_one_revision_are_everybodys() -> None:
    world = World()
    for who, priority in (("kim", 1), ("ann", 2), ("lee", 3)):
        world.edit(who, {"priority": priority})
        world.wait()
    world.look()
    world.tell(world.trail)
    assert world.shown() == ["one of ann, kim, lee (CloudTrail)"]


def test_who_was_refused_before_is_not_told_for_the_edit_that_mended_it_but_by_itself() -> None:
    world = World()
    world.edit("kim", {})
    world.look()
    world.wait()
    world.edit("ann", {"settle": "soon"})
    world.look()
    world.wait()
    world.edit("lee", {"settle": "20s"})
    world.look()
    world.tell(world.trail)
    assert world.shown() == ["kim (CloudTrail)", "lee (CloudTrail)"]
    past = past_of(world.table.head(NAME), world.table.revisions(NAME))
    (line,) = Seen(past, world.table.calls_of(NAME)).others_lines()
    assert line == f"no rev   {START + timedelta(seconds=60):%Y-%m-%d %H:%M:%S}  PutItem by ann (SSO Admin)"


def test_a_deletion_has_its_name() -> None:
    world = World()
    world.edit("kim", {})
    world.look()
    world.wait()
    world.edit("ann", None)
    world.look()
    world.tell(world.trail)
    assert world.shown() == ["kim (CloudTrail)", "ann (CloudTrail)"]


def test_a_name_that_the_edit_gave_itself_is_held_against_the_callers() -> None:
    for claimed, shown in (
        ("kim", "kim"),
        ("KIM@example.com", "KIM@example.com"),
        ("root", "root (CloudTrail: kim@example.com)"),
        ("kim@other.org", "kim@other.org (CloudTrail: kim@example.com)"),
    ):
        world = World()
        world.edit("kim@example.com", live_item(PLAIN, Editor(claimed, START)))
        world.look()
        assert world.shown() == [claimed]
        world.tell(world.trail)
        assert world.shown() == [shown]


def test_a_call_that_does_not_say_what_it_wrote_is_only_perhaps_whose_it_was() -> None:
    world = World()
    world.edit("kim", {})
    world.look()
    world.table.noted.keep(Call("x", START, ANY, "", "eve", "ExecuteStatement", "other"))
    assert world.shown() == ["perhaps eve (CloudTrail)"]
    world.tell(world.trail)
    assert world.shown() == ["one of eve, kim (CloudTrail)"]


def test_what_the_stream_has_forgotten_is_one_of_all_calls_since_the_revision_before() -> None:
    world = World()
    world.edit("kim", {})
    world.look()
    world.wait()
    for who, priority in (("ann", 1), ("lee", 2)):
        world.edit(who, {"priority": priority})
        world.wait(3600)
    world.stream.clear()
    world.guard.look_at(NAME)
    world.tell(world.trail)
    assert world.shown() == ["kim (CloudTrail)", "one of ann, lee (CloudTrail)"]


def test_times_that_are_no_times_name_nobody() -> None:
    world = World()
    world.edit("kim", {})
    world.look()
    head = world.table.kept[NAME, 1]
    world.table.kept[NAME, 1] = replace(
        head, edit=replace(head.edit, written_from="x", written_until="y", accepted_at="z")
    )
    world.tell(world.trail)
    assert world.shown() == [UNKNOWN]


GAP = st.integers(0, 9)
EDIT = st.tuples(
    GAP,
    st.sampled_from(["kim", "ann", "lee"]),
    st.none() | st.fixed_dictionaries({"priority": st.integers(0, 3)}) | st.just({"settle": "soon"}),
    st.booleans(),
    st.integers(-1, 1),
)


@given(edits=st.lists(EDIT, min_size=1, max_size=8), data=st.data())
@settings(max_examples=60, deadline=None)
def test_in_whatever_order_and_however_often_events_come_the_same_is_known(
    edits: list[tuple[int, str, dict[str, Any] | None, bool, int]], data: st.DataObject
) -> None:
    """Early: told before the guard looks. Late: afterwards. Each twice or more, in any order."""
    late, mixed = World(), World()
    by: dict[int, set[str]] = {}
    for gap, who, item, looks, skew in edits:
        for world in (late, mixed):
            world.wait(gap)
            world.edit(who, item, skew=skew)
        if data.draw(st.booleans()):
            mixed.tell(data.draw(st.lists(st.sampled_from(mixed.trail), max_size=3)))
        if looks:
            for world in (late, mixed):
                world.look()
        by.setdefault(int(late.now.timestamp()), set()).add(who)
    for world in (late, mixed):
        world.look()
    late.tell(late.trail)
    mixed.tell([*data.draw(st.permutations(mixed.trail)), *data.draw(st.lists(st.sampled_from(mixed.trail)))])
    assert late.whose() == mixed.whose()
    assert late.notices.told == mixed.notices.told
    _never_the_wrong_one(late, by)


def _never_the_wrong_one(world: World, by: Mapping[int, set[str]]) -> None:
    """Whoever wrote in the second that the stream names is among those told, and all who are told wrote near it."""
    for each in world.table.revisions(NAME):
        past = past_of(world.table.head(NAME), world.table.revisions(NAME))
        seen = Seen(past, world.table.calls_of(NAME))
        (told,) = [seen.whose(one).names for one in past if one.head.revision == each.revision]
        names = {name.removesuffix(" (SSO Admin)") for name in told}
        first, last = (datetime.fromisoformat(text) for text in (each.edit.written_from, each.edit.written_until))
        assert by[int(last.timestamp())] <= names
        near = range(int((first - 2 * APART).timestamp()), int((last + 2 * APART).timestamp()) + 1)
        assert names <= {name for second in near for name in by.get(second, ())}

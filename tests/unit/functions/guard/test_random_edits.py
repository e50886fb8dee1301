"""Whatever two persons do to an item while the guard dies anywhere: readers see only what was accepted, whole."""

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from console.policy.edits import Editor, live_item
from console.policy.past import past_of
from functions.guard.guard import Guard
from functions.guard.mending import is_sound
from functions.ports.policies import DELETED, UNKNOWN, EditedMeanwhileError, Head
from functions.triage.rulebooks import Rulebooks
from functions.twins.notices import MemoryNotices
from functions.twins.policies import MemoryPolicies
from functions.twins.triage import MemoryTelemetry
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import PolicyMode
from policies.documents import BOOKKEEPING, canonical, fingerprint, operators_fields
from policies.loader import load_document
from policies.model import Policy
from tests.tools.envelopes import NOW

NAME = "ours"
PLAIN = {"name": NAME, "mode": "active", "why": "A test.", "when": 'event.kind == "gpu.lost"', "do": ["alert"]}
WRITES = ("put_revision", "put_head", "list_head", "answer", "restore")
GOOD = st.fixed_dictionaries({"priority": st.integers(0, 3), "mode": st.sampled_from(["active", "shadow", "off"])})
BAD: st.SearchStrategy[Mapping[str, Any]] = st.sampled_from(
    [
        {"settle": "soon"},
        {"settle": "soon", "mode": "off"},
        {"do": [], "mode": "shadow"},
        {"do": []},
        {"when": "event.kid == 1"},
        {"extra": {b"\x00", b"\x01"}},
        {"priority": "1"},
    ]
)
MOMENT = st.none() | st.tuples(st.integers(0, 7), st.sampled_from(["before", "after", "edit", "guard"]))


class Watched(MemoryPolicies):
    """Notes every head that readers could see, however short; its revision must be kept by then."""

    def __init__(self) -> None:
        super().__init__()
        self.were_in_force: list[Head] = []

    def put_head(self, head: Head, *, after: int) -> None:
        super().put_head(head, after=after)
        assert self.kept[head.name, head.revision] == head
        self.were_in_force.append(head)

    def list_head(self, head: Head) -> None:
        assert self.in_force[head.name].revision >= head.revision, "readers that see the line find the head"
        super().list_head(head)


class Faulty:
    """A table whose worker dies before or after its n-th write, or *meanwhile* something happens just before it."""

    def __init__(
        self, inner: MemoryPolicies, moment: tuple[int, str] | None, **meanwhile: Callable[[], object]
    ) -> None:
        self._inner, self._moment, self._meanwhile = inner, moment, meanwhile
        self.writes = 0

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - stands for the whole port
        found = getattr(self._inner, name)
        return (lambda *args, **more: self._write(found, *args, **more)) if name in WRITES else found

    def _write(self, found: Callable[..., object], *args: object, **more: object) -> object:
        number, self.writes = self.writes, self.writes + 1
        now = self._moment[1] if self._moment and self._moment[0] == number else ""
        if now == "before":
            raise DependencyError("the worker died before it wrote.")
        if now in self._meanwhile:
            self._meanwhile[now]()
        result = found(*args, **more)
        if now == "after":
            raise DependencyError("the worker died after it wrote.")
        return result


class Edits(RuleBasedStateMachine):
    """One item, two persons with commands, anybody with a console, and two guards that are mortal."""

    @initialize()
    def begin(self) -> None:
        self.table, self.notices, self.telemetry = Watched(), MemoryNotices(), MemoryTelemetry()
        self.rulebooks = Rulebooks(self.table, self.telemetry)
        self.now = NOW
        self.seen: dict[str, Mapping[str, Any] | None] = {"kim": None, "ann": None}
        self.items: list[dict[str, Any]] = []
        self.good: set[str] = set()
        self.kept: dict[tuple[str, int], Head] = {}

    def put(self, item: Mapping[str, Any]) -> None:
        self.table.put_live(item)
        self.remember()

    def remember(self) -> None:
        item = self.table.live_items.get(NAME)
        if item is not None:
            self.items.append(dict(item))
            if isinstance(load_document(item), Policy):
                self.good.add(canonical(operators_fields(item)))

    def tick(self) -> None:
        self.now += timedelta(seconds=1)

    @rule(who=st.sampled_from(["kim", "ann"]))
    def read(self, who: str) -> None:
        self.seen[who] = self.table.live(NAME)

    @rule(who=st.sampled_from(["kim", "ann"]), fields=GOOD | BAD, fresh=st.booleans())
    def write_by_command(self, who: str, fields: Mapping[str, Any], *, fresh: bool) -> None:
        """A command writes what was read, changed: never over what somebody else wrote meanwhile."""
        self.tick()
        if fresh:
            self.read(who)
        seen, there = self.seen[who], self.table.live_items.get(NAME)
        lost = _own(seen) != _own(there)
        try:
            self.table.replace_live(seen, live_item({**PLAIN, **(seen or {}), **fields}, Editor(who, self.now)))
        except EditedMeanwhileError:
            assert lost
        else:
            assert not lost
            self.seen[who] = self.table.live(NAME)
            self.remember()

    @rule(fields=GOOD | BAD)
    def put_in_console(self, fields: Mapping[str, Any]) -> None:
        self.put({**PLAIN, **fields})

    @precondition(lambda self: NAME in self.table.live_items)
    @rule(fields=GOOD | BAD)
    def update_in_console(self, fields: Mapping[str, Any]) -> None:
        self.put({**self.table.live_items[NAME], **fields})

    @rule()
    def delete(self) -> None:
        self.table.live_items.pop(NAME, None)

    @precondition(lambda self: self.items)
    @rule(data=st.data(), fields=st.just({}) | GOOD | BAD)
    def paste_an_old_item(self, data: st.DataObject, fields: Mapping[str, Any]) -> None:
        self.come_to_rest()
        self.put({**data.draw(st.sampled_from(self.items)), **fields})
        self.come_to_rest()

    @precondition(lambda self: NAME in self.table.live_items)
    @rule(status=st.sampled_from(["accepted", "rejected"]), revision=st.integers(0, 9))
    def forge_a_verdict(self, status: str, revision: int) -> None:
        item = self.table.live_items[NAME]
        forged = {"status": status, "revision": revision, "hash": fingerprint(item), "problems": [], "at": "now"}
        self.put({**item, "verdict": forged})

    @rule(moment=MOMENT, fields=GOOD | BAD)
    def look(self, moment: tuple[int, str] | None, fields: Mapping[str, Any]) -> None:
        self.tick()
        other = Guard(self.table, self.notices, self.telemetry, lambda: self.now)  # woken by the clock, or a repeat
        faulty: Any = Faulty(
            self.table, moment, edit=lambda: self.put({**PLAIN, **fields}), guard=lambda: other.look_at(NAME)
        )
        try:
            Guard(faulty, self.notices, self.telemetry, lambda: self.now).look_at(NAME)
        except DependencyError:
            return  # the stream brings it again

    @rule()
    def come_to_rest(self) -> None:
        """The stream repeats what failed: in the end the item, what is in force and the verdict agree."""
        before = self.table.in_force.get(NAME)
        self.look(None, {})
        quiet: Any = Faulty(self.table, None)
        told = len(self.notices.told)
        Guard(quiet, self.notices, self.telemetry, lambda: self.now).look_at(NAME)
        assert (quiet.writes, len(self.notices.told)) == (0, told), "its own writes are no edits"
        live, head = self.table.live_items.get(NAME), self.table.in_force.get(NAME)
        if live is None:
            assert head is None or head.mode is PolicyMode.OFF
        elif isinstance(load_document(live), Policy):
            assert head is not None
            assert (head.hash, live["verdict"]["status"]) == (fingerprint(live), "accepted")
            assert head.document == canonical(operators_fields(live))
            assert live["verdict"]["revision"] == head.revision
        else:
            assert head == before or self.lost_power(before, head, live), "a bad edit changes nothing else"
            assert live["verdict"]["status"] == "rejected"
            assert live["verdict"]["problems"]
        assert (head.revision if head else None) == getattr(self.table.listing.get(NAME), "revision", None)

    def lost_power(self, before: Head | None, head: Head | None, live: Mapping[str, Any]) -> bool:
        """Whether the only thing that a refused edit did is to turn its policy down to the mode that it asks for."""
        assert before is not None
        assert head is not None
        less = {PolicyMode.ACTIVE: {"shadow", "off"}, PolicyMode.SHADOW: {"off"}, PolicyMode.OFF: set[str]()}
        same = head.document == canonical({**json.loads(before.document), "mode": live["mode"]})
        return same and live["mode"] == head.mode and live["mode"] in less[before.mode]

    @precondition(lambda self: any(not head.hash.startswith(DELETED) for head in self.table.kept.values()))
    @rule(data=st.data())
    def roll_back(self, data: st.DataObject) -> None:
        kept = [head for head in self.table.kept.values() if not head.hash.startswith(DELETED)]
        target = data.draw(st.sampled_from(sorted(kept, key=lambda head: head.revision)))
        self.tick()
        item = live_item(json.loads(target.document), Editor("kim", self.now), restored=target.revision)
        self.table.replace_live(self.table.live(NAME), item)
        self.remember()
        self.come_to_rest()
        assert self.table.in_force[NAME].document == target.document
        assert canonical(operators_fields(self.table.live_items[NAME])) == target.document

    @invariant()
    def readers_see_only_what_was_accepted(self) -> None:
        if not hasattr(self, "table"):
            return
        for rule_ in self.rulebooks.current().rules:
            assert rule_.revision > 0
        for heading in self.table.headings():
            head = self.table.head(heading.name)
            assert head is not None
            assert head.revision >= heading.revision
        head = self.table.head(NAME)
        if head is not None:
            assert is_sound(head)
            assert head.document in self.good or self.turned_down(head)
            assert self.table.kept[NAME, head.revision].is_same(head)

    def turned_down(self, head: Head) -> bool:
        """Whether it is something that was good once, with less power."""
        modes = [canonical({**json.loads(head.document), "mode": mode}) for mode in ("active", "shadow")]
        return head.mode is not PolicyMode.ACTIVE and bool(self.good & set(modes))

    @invariant()
    def revisions_only_rise_and_who_edited_is_believed_once(self) -> None:
        if not hasattr(self, "table"):
            return
        numbers = [head.revision for head in self.table.were_in_force]
        assert numbers == sorted(set(numbers))
        marks = [head.edit.mark for head in self.table.were_in_force if head.edit.by != UNKNOWN]
        assert len(marks) == len(set(marks)), "a seal that is pasted again is nobody's"

    @invariant()
    def what_was_is_kept_for_ever(self) -> None:
        if not hasattr(self, "table"):
            return
        for key, head in self.kept.items():
            assert self.table.kept[key] == head
        self.kept = dict(self.table.kept)

    def teardown(self) -> None:
        """History tells exactly what was in force."""
        if not hasattr(self, "table"):
            return
        past = past_of(self.table.head(NAME), self.table.revisions(NAME))
        told = [each.head.revision for each in past if each.in_force]
        assert told == [head.revision for head in reversed(self.table.were_in_force)]


def _own(item: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if item is None else {key: value for key, value in item.items() if key not in BOOKKEEPING}


TestEdits = Edits.TestCase
TestEdits.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)

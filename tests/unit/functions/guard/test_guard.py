"""An edit comes into force or is answered; what was in force stays; nothing the guard writes is taken for an edit."""

from typing import Any

import pytest

from functions.guard.guard import Guard
from functions.ports.policies import EditedMeanwhileError, Head
from functions.triage.rulebooks import Rulebooks
from functions.twins.notices import MemoryNotices
from functions.twins.policies import MemoryPolicies
from functions.twins.triage import MemoryTelemetry
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import PolicyMode
from policies.coordination.switches import EVERYTHING
from policies.documents import fingerprint
from tests.tools.envelopes import NOW, shipped_documents

DOCUMENT = {**next(one for one in shipped_documents() if one["name"].startswith("xid-79")), "mode": "active"}
NAME = DOCUMENT["name"]


class Desk:
    """A table, a guard over it, and an operator's pen."""

    def __init__(self, table: MemoryPolicies | None = None) -> None:
        self.table = table or MemoryPolicies()
        self.telemetry = MemoryTelemetry()
        self.notices = MemoryNotices()
        self.guard = Guard(self.table, self.notices, self.telemetry, lambda: NOW)

    def edit(self, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of a document
        """Write the item anew, as the console does, and let the guard look."""
        self.table.put_live({**DOCUMENT, **changes})
        self.guard.look_at(NAME)
        return self.verdict

    @property
    def verdict(self) -> dict[str, Any]:
        verdict: dict[str, Any] = self.table.live_items[NAME]["verdict"]
        return verdict

    @property
    def in_force(self) -> Head:
        return self.table.in_force[NAME]


def test_a_good_edit_comes_into_force_and_says_so() -> None:
    desk = Desk()
    verdict = desk.edit()
    assert (verdict["status"], verdict["revision"], verdict["problems"]) == ("accepted", 1, [])
    assert verdict["hash"] == desk.in_force.hash == fingerprint(DOCUMENT)
    assert desk.table.kept[NAME, 1] == desk.in_force
    assert desk.table.listing[NAME].revision == 1
    assert desk.telemetry.counts == {"PoliciesAccepted": 1}


def test_its_own_write_is_no_edit() -> None:
    desk = Desk()
    before = desk.edit()
    for _again in range(3):
        desk.guard.look_at(NAME)
    assert desk.verdict is before
    assert desk.in_force.revision == 1
    assert desk.telemetry.counts == {"PoliciesAccepted": 1}


def test_a_bad_edit_is_answered_and_the_last_accepted_revision_stays() -> None:
    desk = Desk()
    desk.edit()
    verdict = desk.edit(when='event.kind == "gpu.xidd"')
    assert (verdict["status"], verdict["revision"]) == ("rejected", 1)
    (problem,) = verdict["problems"]
    assert problem["path"] == "when"
    assert "gpu.xid" in problem["hint"]
    assert desk.in_force.revision == 1
    assert desk.telemetry.counts["PoliciesRejected"] == 1
    desk.guard.look_at(NAME)
    assert desk.telemetry.counts["PoliciesRejected"] == 1


def test_a_first_edit_that_is_bad_puts_nothing_in_force() -> None:
    desk = Desk()
    assert desk.edit(do=[])["revision"] == 0
    assert desk.table.in_force == {}


def test_mending_a_bad_edit_takes_the_verdict_away() -> None:
    desk = Desk()
    desk.edit(do=[])
    assert desk.edit()["status"] == "accepted"


def test_a_pasted_old_verdict_is_not_believed() -> None:
    desk = Desk()
    first = desk.edit()
    desk.edit(priority=5)
    restored = {**DOCUMENT, "verdict": first}
    desk.table.put_live(restored)
    desk.guard.look_at(NAME)
    assert desk.in_force.revision == 3
    assert desk.in_force.hash == fingerprint(DOCUMENT)
    assert desk.verdict["revision"] == 3


def test_a_pasted_verdict_over_a_bad_edit_is_not_believed_either() -> None:
    desk = Desk()
    accepted = desk.edit()
    bad = {**DOCUMENT, "do": []}
    desk.table.put_live({**bad, "verdict": {**accepted, "hash": fingerprint(bad)}})
    desk.guard.look_at(NAME)
    assert desk.verdict["status"] == "rejected"
    assert desk.in_force.revision == 1


def test_deleting_the_item_turns_the_policy_off_and_somebody_hears_of_it() -> None:
    desk = Desk()
    desk.edit()
    del desk.table.live_items[NAME]
    desk.guard.look_at(NAME)
    assert (desk.in_force.revision, desk.in_force.mode) == (2, PolicyMode.OFF)
    assert desk.table.listing[NAME].mode is PolicyMode.OFF
    assert desk.telemetry.counts["PoliciesDeleted"] == 1
    desk.guard.look_at(NAME)
    assert desk.in_force.revision == 2
    assert Rulebooks(desk.table, desk.telemetry).current().rules == ()


def test_what_was_deleted_can_be_written_again() -> None:
    desk = Desk()
    desk.edit()
    del desk.table.live_items[NAME]
    desk.guard.look_at(NAME)
    assert desk.edit()["revision"] == 3
    assert desk.in_force.mode is PolicyMode.ACTIVE
    assert len(Rulebooks(desk.table, desk.telemetry).current().rules) == 1


def test_deleting_what_was_never_accepted_is_nothing() -> None:
    desk = Desk()
    desk.guard.look_at("never-heard-of")
    assert desk.table.in_force == {}
    assert desk.telemetry.counts == {}


def test_an_edit_to_off_applies() -> None:
    desk = Desk()
    desk.edit()
    desk.edit(mode="off")
    assert desk.in_force.mode is PolicyMode.OFF


@pytest.mark.parametrize("junk", [{"x": "y" * 390_000}, {f"field-{number}": number for number in range(4000)}])
def test_a_huge_item_gets_a_short_answer(junk: dict[str, Any]) -> None:
    desk = Desk()
    verdict = desk.edit(**junk)
    assert verdict["status"] == "rejected"
    assert len(str(verdict)) < 8000


class DiesAt:
    """A table whose worker dies right after the first call of one method took effect."""

    def __init__(self, inner: MemoryPolicies, method: str) -> None:
        self._inner = inner
        self._method = method

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - stands for the whole port
        found = getattr(self._inner, name)
        if name != self._method:
            return found

        def call(*args: object, **kwargs: object) -> None:
            self._method = ""
            found(*args, **kwargs)
            raise DependencyError("the worker died.")

        return call


@pytest.mark.parametrize("method", ["put_revision", "put_head", "list_head", "answer"])
def test_a_crash_between_its_writes_is_finished_by_the_next_look(method: str) -> None:
    desk = Desk()
    desk.table.put_live(DOCUMENT)
    dying: Any = DiesAt(desk.table, method)
    with pytest.raises(DependencyError):
        Guard(dying, desk.notices, desk.telemetry, lambda: NOW).look_at(NAME)
    desk.guard.look_at(NAME)
    assert desk.verdict["status"] == "accepted"
    assert desk.in_force.revision == 1
    assert desk.table.listing[NAME].revision == 1


@pytest.mark.parametrize("method", ["put_revision", "put_head", "list_head"])
def test_a_crash_followed_by_another_edit_ends_with_that_edit(method: str) -> None:
    desk = Desk()
    desk.edit()
    desk.table.put_live({**DOCUMENT, "priority": 1})
    dying: Any = DiesAt(desk.table, method)
    with pytest.raises(DependencyError):
        Guard(dying, desk.notices, desk.telemetry, lambda: NOW).look_at(NAME)
    verdict = desk.edit(priority=2)
    assert verdict["hash"] == desk.in_force.hash == fingerprint({**DOCUMENT, "priority": 2})
    assert desk.table.listing[NAME].revision == desk.in_force.revision == verdict["revision"]


def test_a_crash_before_the_listing_followed_by_a_bad_edit_still_lists_what_is_in_force() -> None:
    desk = Desk()
    desk.table.put_live(DOCUMENT)
    dying: Any = DiesAt(desk.table, "put_head")
    with pytest.raises(DependencyError):
        Guard(dying, desk.notices, desk.telemetry, lambda: NOW).look_at(NAME)
    desk.edit(do=[])
    assert desk.table.listing[NAME].revision == 1


class EditedInBetween(MemoryPolicies):
    """While the guard judges, another person saves."""

    def __init__(self, edits: int) -> None:
        super().__init__()
        self._edits = edits

    def answer(self, name: str, seen: Any, verdict: Any) -> None:  # noqa: ANN401 - see the port
        if self._edits:
            self._edits -= 1
            self.put_live({**DOCUMENT, "priority": self._edits})
        super().answer(name, seen, verdict)


def test_two_concurrent_edits_end_with_the_last_one_in_force_and_judged() -> None:
    desk = Desk(EditedInBetween(edits=2))
    verdict = desk.edit(priority=9)
    assert verdict["hash"] == desk.in_force.hash == fingerprint({**DOCUMENT, "priority": 0})
    assert desk.in_force.revision == 3


def test_edits_without_end_are_given_back_to_the_stream() -> None:
    desk = Desk(EditedInBetween(edits=99))
    with pytest.raises(EditedMeanwhileError):
        desk.edit(priority=9)


@pytest.mark.parametrize(
    ("mode", "status", "means"),
    [("off", "accepted", "off"), ("active", "accepted", "active"), ("of", "rejected", "off")],
)
def test_the_switch_of_everything_is_told_what_it_means(mode: str, status: str, means: str) -> None:
    desk = Desk()
    desk.table.put_live({"name": EVERYTHING, "mode": mode, "reason": "a bad image", "edited_by": "kim"})
    desk.guard.look_at(EVERYTHING)
    verdict = desk.table.live_items[EVERYTHING]["verdict"]
    assert (verdict["status"], verdict["mode"]) == (status, means)
    assert [one["path"] for one in verdict["problems"]] == (["mode"] if status == "rejected" else [])
    desk.guard.look_at(EVERYTHING)
    assert desk.table.live_items[EVERYTHING]["verdict"] is verdict
    assert not desk.table.in_force
    assert not desk.table.listing


def test_a_switch_that_is_deleted_needs_no_answer() -> None:
    desk = Desk()
    desk.guard.look_at(EVERYTHING)
    assert not desk.table.live_items


def test_an_item_that_breaks_the_guard_stops_no_edit_behind_it() -> None:
    class Breaking(MemoryPolicies):
        def live(self, name: str) -> dict[str, Any] | None:
            if name == "broken":
                raise ZeroDivisionError("a defect")
            return super().live(name)  # type: ignore[return-value]

    desk = Desk(Breaking())
    desk.guard.look_at("broken")
    assert desk.telemetry.counts["PoliciesNotJudged"] == 1
    assert "ZeroDivisionError" in desk.telemetry.remarks[0][1]["reason"]
    assert desk.edit(mode="off")["status"] == "accepted"

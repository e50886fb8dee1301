"""The clock's guard runs beside the stream's: what one accepted meanwhile, the other puts nothing older over."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from functions.ports.policies import Heading
from functions.twins.policies import MemoryPolicies
from policies.contract.vocabulary import PolicyMode
from tests.tools.policy_desk import DOCUMENT, NAME, Desk

CALLS = (
    "live",
    "head",
    "heading",
    "revision",
    "revisions",
    "put_revision",
    "put_head",
    "list_head",
    "restore",
    "answer",
)


class Table(MemoryPolicies):
    """Something happens before its next call of ``when``; each mode that readers could see is noted."""

    def __init__(self) -> None:
        super().__init__()
        self.when = ""
        self.then: Callable[[], object] = list
        self.modes: list[PolicyMode] = []

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 - stands before the whole port
        if name in CALLS and name == self.when:
            self.when = ""
            self.then()
        return super().__getattribute__(name)

    def note(self) -> None:
        self.modes += [self.in_force[NAME].mode, self.listing[NAME].mode]


def spoil_revision(table: MemoryPolicies) -> None:
    table.kept[NAME, 1] = replace(table.kept[NAME, 1], document="{}")


def spoil_line(table: MemoryPolicies) -> None:
    table.listing[NAME] = Heading.unreadable(NAME)


def lead(table: MemoryPolicies) -> None:
    table.listing[NAME] = replace(table.listing[NAME], revision=9)


def spoil_head(table: MemoryPolicies) -> None:
    table.broken[NAME] = "junk"


def nothing(_table: MemoryPolicies) -> None:
    """All is as it should be."""


@pytest.mark.parametrize("harm", [nothing, spoil_revision, spoil_line, lead, spoil_head])
@pytest.mark.parametrize("when", CALLS)
def test_off_that_was_accepted_meanwhile_stays(when: str, harm: Callable[[MemoryPolicies], None]) -> None:
    table = Table()
    stream, clock = Desk(table), Desk(table)
    stream.put(DOCUMENT)
    harm(table)

    def off() -> None:
        stream.put({**DOCUMENT, "mode": "off"})
        table.note()

    table.when, table.then = when, off
    put, restore, listed = table.put_head, table.restore, table.list_head

    def noting(call: Callable[..., None]) -> Callable[..., None]:
        def do(*args: Any, **more: Any) -> None:  # noqa: ANN401 - of any of these calls
            call(*args, **more)
            if table.modes:
                table.note()

        return do

    table.put_head, table.restore, table.list_head = noting(put), noting(restore), noting(listed)  # type: ignore[method-assign]
    clock.look()
    if table.when:
        off()  # that call is not made in this case
    assert set(table.modes) == {PolicyMode.OFF}
    assert table.live_items[NAME]["verdict"]["mode"] == "off"
    assert stream.telemetry.counts["PoliciesNotJudged"] == clock.telemetry.counts["PoliciesNotJudged"] == 0

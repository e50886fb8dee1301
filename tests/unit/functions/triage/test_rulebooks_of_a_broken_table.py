"""What somebody broke by hand of one policy keeps no fault from the others, and makes no policy vanish silently."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from functions.ports.policies import DELETED, Heading
from functions.triage.rulebooks import Rulebooks
from functions.twins.policies import MemoryPolicies
from functions.twins.triage import MemoryTelemetry
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import PolicyMode
from tests.tools.envelopes import shipped_documents
from tests.tools.policy_table import in_force

DOCUMENTS = shipped_documents()[:3]
NAME = DOCUMENTS[1]["name"]
ALL = sorted(document["name"] for document in DOCUMENTS)


class Triage:
    """A worker over a table with three policies."""

    def __init__(self, table: MemoryPolicies | None = None) -> None:
        self.table, self.telemetry = table or in_force(DOCUMENTS), MemoryTelemetry()
        self.books = Rulebooks(self.table, self.telemetry)

    def names(self) -> list[str]:
        return sorted(rule.name for rule in self.books.current().rules)

    def told(self) -> list[str]:
        return [str(fields["policy"]) for _text, fields in self.telemetry.remarks]


def spoil_line(table: MemoryPolicies) -> None:
    table.listing[NAME] = Heading.unreadable(NAME)


def drop_line(table: MemoryPolicies) -> None:
    del table.listing[NAME]


def lead(table: MemoryPolicies) -> None:
    table.listing[NAME] = replace(table.listing[NAME], revision=9)


def spoil_head(table: MemoryPolicies) -> None:
    table.broken[NAME] = "junk"
    lead(table)


def drop_head(table: MemoryPolicies) -> None:
    del table.in_force[NAME]
    lead(table)


def spoil_both(table: MemoryPolicies) -> None:
    table.broken[NAME] = "junk"
    spoil_line(table)


@pytest.mark.parametrize("harm", [spoil_line, drop_line, lead, spoil_head, drop_head, spoil_both])
def test_a_warm_worker_goes_on_with_all_policies_and_tells(harm: Callable[[MemoryPolicies], None]) -> None:
    triage = Triage()
    assert triage.names() == ALL
    harm(triage.table)
    for _batch in range(3):
        assert triage.names() == ALL
    assert triage.told() == [NAME], "once"
    assert triage.telemetry.counts["PoliciesUnreadable"] == 3, "as long as it lasts"


@pytest.mark.parametrize("harm", [spoil_line, lead])
def test_a_cold_worker_asks_the_head(harm: Callable[[MemoryPolicies], None]) -> None:
    triage = Triage()
    harm(triage.table)
    assert triage.names() == ALL
    assert triage.told() == [NAME]


@pytest.mark.parametrize("harm", [spoil_head, drop_head, spoil_both])
def test_of_what_is_left_nothing_a_cold_worker_says_that_it_is_not_applied(
    harm: Callable[[MemoryPolicies], None],
) -> None:
    triage = Triage()
    harm(triage.table)
    assert triage.names() == [name for name in ALL if name != NAME]
    ((_text, fields),) = triage.telemetry.remarks
    assert fields["policy"] == NAME
    assert "NOT applied" in str(fields["reason"])
    assert triage.telemetry.counts["PoliciesUnreadable"] == 1


@pytest.mark.parametrize("spoil", [spoil_line, drop_line])
def test_off_applies_though_the_line_is_broken(spoil: Callable[[MemoryPolicies], None]) -> None:
    triage = Triage()
    triage.names()
    spoil(triage.table)
    triage.names()
    head = triage.table.in_force[NAME]
    off = replace(head, revision=head.revision + 1, hash=f"{DELETED}{head.hash}", mode=PolicyMode.OFF)
    triage.table.in_force[NAME] = off
    assert NAME not in triage.names()


def test_once_the_guard_has_mended_it_nothing_is_read_any_more() -> None:
    triage = Triage()
    line = triage.table.listing[NAME]
    spoil_line(triage.table)
    triage.names()
    triage.table.listing[NAME] = line
    rulebook = triage.books.current()
    triage.telemetry.counts.clear()
    assert triage.books.current() is rulebook
    assert triage.telemetry.counts == {}


def test_a_policy_that_is_gone_with_line_and_head_is_gone() -> None:
    triage = Triage()
    triage.names()
    drop_line(triage.table)
    del triage.table.in_force[NAME]
    assert triage.names() == [name for name in ALL if name != NAME]
    assert triage.told() == []


def test_a_listing_that_cannot_be_read_at_all_is_tried_again() -> None:
    class Refusing(MemoryPolicies):
        def headings(self) -> list[Heading]:
            raise DependencyError("the table does not answer.")

    with pytest.raises(DependencyError):
        Triage(Refusing()).names()

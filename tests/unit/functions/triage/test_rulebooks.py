"""The rules in force are compiled when the listing changes and not otherwise."""

import dataclasses
from collections.abc import Mapping, Sequence

import pytest

from functions.guard.guard import Guard
from functions.ports.policies import Head, Heading
from functions.triage.rulebooks import Rulebooks
from functions.twins.notices import MemoryNotices
from functions.twins.policies import MemoryPolicies
from functions.twins.triage import MemoryTelemetry
from policies.contract.vocabulary import PolicyMode
from tests.tools.envelopes import NOW, shipped_documents
from tests.tools.policy_table import in_force

NAME = "xid-79-fell-off-the-bus"
SHIPPED = len(shipped_documents())


class Counting(MemoryPolicies):
    """Counts what is read."""

    def __init__(self, table: MemoryPolicies) -> None:
        super().__init__()
        self.__dict__.update(table.__dict__)
        self.listings = self.read = self.calls = 0

    def headings(self) -> Sequence[Heading]:
        self.listings += 1
        return super().headings()

    def heads(self, names: Sequence[str]) -> Mapping[str, Head]:
        self.calls += 1
        self.read += len(names)
        return super().heads(names)


def edit(table: MemoryPolicies, **changes: object) -> None:
    document = next(one for one in shipped_documents() if one["name"] == NAME)
    table.put_live({**document, **changes})
    Guard(table, MemoryNotices(), MemoryTelemetry(), lambda: NOW).look_at(NAME)


def test_one_small_read_a_batch_while_nothing_changes() -> None:
    table = Counting(in_force())
    books = Rulebooks(table, MemoryTelemetry())
    first = books.current()
    assert len(first.rules) == SHIPPED
    assert books.current() is first
    assert (table.listings, table.read, table.calls) == (2, SHIPPED, 1)


def test_an_edit_applies_with_the_next_batch_and_only_it_is_read() -> None:
    table = Counting(in_force())
    books = Rulebooks(table, MemoryTelemetry())
    books.current()
    edit(table, mode="active")
    table.read = 0
    changed = books.current()
    assert table.read == 1
    assert next(rule.plan for rule in changed.rules if rule.name == NAME).mode is PolicyMode.ACTIVE


def test_off_applies_without_reading_more() -> None:
    table = Counting(in_force())
    books = Rulebooks(table, MemoryTelemetry())
    books.current()
    edit(table, mode="off")
    table.read = 0
    assert NAME not in {rule.name for rule in books.current().rules}
    assert table.read == 0


@pytest.mark.parametrize("document", ['{"name": "from the future"}', "[]", "{", '"x"'])
def test_an_accepted_policy_that_this_version_cannot_read_is_told_and_harms_no_other(document: str) -> None:
    table = in_force()
    table.in_force[NAME] = dataclasses.replace(table.in_force[NAME], document=document)
    telemetry = MemoryTelemetry()
    assert len(Rulebooks(table, telemetry).current().rules) == SHIPPED - 1
    assert telemetry.counts["PoliciesUnreadable"] == 1
    assert telemetry.remarks[0][1]["policy"] == NAME

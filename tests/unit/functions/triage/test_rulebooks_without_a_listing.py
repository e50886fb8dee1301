"""A listing that somebody removed silences no policy, in no worker; where nothing was accepted nobody is alarmed."""

from collections.abc import Sequence

import pytest

from functions.guard.guard import Guard
from functions.triage.rulebooks import MOST_TOLD, Rulebooks
from functions.twins.notices import MemoryNotices
from functions.twins.policies import MemoryPolicies
from functions.twins.triage import MemoryTelemetry
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import PolicyMode
from tests.tools.envelopes import NOW, shipped_documents
from tests.tools.policy_table import in_force

DOCUMENTS = shipped_documents()[:3]
ALL = sorted(document["name"] for document in DOCUMENTS)


class Table(MemoryPolicies):
    """Counts the scans."""

    def __init__(self, there: MemoryPolicies) -> None:
        super().__init__()
        self.__dict__.update(there.__dict__)
        self.scans = 0

    def names_of_heads(self) -> Sequence[str]:
        self.scans += 1
        return super().names_of_heads()


class Triage:
    def __init__(self, table: MemoryPolicies | None = None) -> None:
        self.table = Table(in_force(DOCUMENTS) if table is None else table)
        self.telemetry = MemoryTelemetry()
        self.restart()

    def restart(self) -> None:
        self.books = Rulebooks(self.table, self.telemetry)

    def names(self) -> list[str]:
        return sorted(rule.name for rule in self.books.current().rules)

    def unreadable(self) -> int:
        count = self.telemetry.counts["PoliciesUnreadable"]
        self.telemetry.counts.clear()
        return count


def test_a_cold_worker_asks_all_heads_and_alarms_until_it_is_there_again() -> None:
    triage = Triage()
    lines = dict(triage.table.listing)
    triage.table.listing.clear()
    for batch in range(4):
        assert triage.names() == ALL
        assert triage.unreadable() == (len(ALL) if batch else 0)
    assert triage.table.scans == 1, "what it found it knows"
    assert len(triage.telemetry.remarks) == len(ALL), "each once"
    triage.table.listing.update(lines)
    for _batch in range(2):
        assert triage.names() == ALL
    assert triage.unreadable() == 0


def test_a_warm_worker_goes_on_without_looking_for_any() -> None:
    triage = Triage()
    triage.names()
    triage.table.listing.clear()
    assert triage.names() == ALL
    assert triage.unreadable() == len(ALL)
    assert triage.table.scans == 0


def test_in_the_ordinary_case_nothing_more_is_read() -> None:
    triage = Triage()
    for _batch in range(3):
        triage.names()
    assert triage.table.scans == 0


def test_an_account_that_never_accepted_a_policy_has_none_and_alarms_nobody() -> None:
    triage = Triage(MemoryPolicies())
    for _batch in range(2):
        assert triage.names() == []
    assert triage.unreadable() == 0
    triage.table.put_live({**DOCUMENTS[0]})
    Guard(triage.table, MemoryNotices(), MemoryTelemetry(), lambda: NOW).look_at(ALL[0])
    assert triage.names() == [DOCUMENTS[0]["name"]]


def test_the_moment_between_the_first_head_of_all_and_its_line_alarms_nobody() -> None:
    triage = Triage(MemoryPolicies())
    triage.names()
    first = in_force(DOCUMENTS[:1])
    triage.table.in_force.update(first.in_force)
    assert triage.names() == [DOCUMENTS[0]["name"]], "and it applies"
    triage.table.listing.update(first.listing)
    assert triage.names() == [DOCUMENTS[0]["name"]]
    assert triage.telemetry.remarks == []
    assert triage.unreadable() == 0


def test_what_is_turned_off_meanwhile_is_off() -> None:
    triage = Triage()
    triage.table.listing.clear()
    for _batch in range(2):
        triage.names()
    assert triage.unreadable() == len(ALL)
    off = next(each for each in DOCUMENTS if each["name"] == ALL[1])
    triage.table.put_live({**off, "mode": "off"})
    Guard(triage.table, MemoryNotices(), MemoryTelemetry(), lambda: NOW).look_at(ALL[1])
    assert triage.table.in_force[ALL[1]].mode is PolicyMode.OFF
    assert triage.names() == [ALL[0], ALL[2]]
    assert triage.unreadable() == 0, "the guard's first line has brought all of them"


@pytest.mark.parametrize("harm", ["broken", "gone"])
def test_with_the_listing_no_head_is_taken_for_a_policy_that_is_gone(harm: str) -> None:
    triage = Triage()
    triage.names()
    triage.table.listing.clear()
    if harm == "broken":
        triage.table.broken[ALL[0]] = "junk"
    else:
        del triage.table.in_force[ALL[0]]
    for _batch in range(2):
        assert triage.names() == ALL
    triage.restart()
    triage.telemetry.remarks.clear()
    for _batch in range(2):
        assert triage.names() == ALL[1:], "a worker that has just begun finds the others"
    told = {str(fields["policy"]): str(fields["reason"]) for _text, fields in triage.telemetry.remarks}
    assert ("NOT applied" in told.get(ALL[0], "")) is (harm == "broken")


def test_of_very_many_the_log_names_the_first() -> None:
    triage = Triage(in_force())
    triage.table.listing.clear()
    for _batch in range(2):
        triage.names()
    assert len(triage.telemetry.remarks) == MOST_TOLD + 1
    assert triage.telemetry.remarks[-1][1] == {"policies": len(shipped_documents()) - MOST_TOLD}


def test_where_the_heads_cannot_be_looked_for_nothing_is_judged_without_them() -> None:
    triage = Triage()
    triage.table.listing.clear()
    names, triage.table.names_of_heads = triage.table.names_of_heads, refuse  # type: ignore[method-assign]
    with pytest.raises(DependencyError):
        triage.names()
    triage.table.names_of_heads = names  # type: ignore[method-assign]
    assert triage.names() == ALL, "the batch comes again"


def refuse() -> Sequence[str]:
    raise DependencyError("the table is throttled.")

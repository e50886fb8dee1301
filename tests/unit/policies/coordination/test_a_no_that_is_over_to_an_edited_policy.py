"""Whoever said no and then edited the policy is asked, as its evidence counts still; nothing is done by what was."""

import pytest

from policies.contract.decisions import SweepMessage
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Kind, PolicyMode
from policies.coordination.incident import Incident
from policies.coordination.switches import Switches
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, ask, at, findings, plan
from tests.tools.refusals import ENDS, FULL, MINUTE, gpu, no, opened, pages, seen

REPLACES = plan(settle=0)  # it asks nobody as a rule, but nothing would have taken the node's place
LATE = ENDS - MINUTE


def in_force(revision: int) -> Switches:
    return Switches({REPLACES.name: PolicyMode.ACTIVE}, revisions={REPLACES.name: revision})


def refused_then_told_once(*parts: int) -> DecisionTable:
    """Return a table on which nothing holds the node any more, but the person's word."""
    table = DecisionTable()
    table.capacity = FULL
    told = [seen(0, REPLACES, kind=Kind.GPU_SLOWDOWN, component=gpu(part)) for part in parts or (0,)]
    table.take(0, findings(*told))
    assert table.answer(1, ask(table.incident.id)).verdict == "parked"
    table.take(90, no(table.incident, 90))
    later = [seen(LATE, REPLACES, kind=Kind.GPU_SLOWDOWN, component=gpu(part)) for part in parts or (0,)]
    table.take(LATE + 1, findings(*later))
    table.capacity = None
    return table


def swept(table: DecisionTable, since: float) -> list[Incident]:
    for minute in range(3):
        table.take(since + minute * MINUTE, SweepMessage(cluster=CLUSTER, at=at(since + minute * MINUTE)))
    return opened(table)


def test_as_long_as_the_revision_that_found_it_is_in_force_it_acts_as_it_would_have() -> None:
    table = refused_then_told_once()
    table.switches = in_force(REPLACES.revision)
    (acting,) = swept(table, ENDS)
    assert table.answer(ENDS + 121, ask(acting.id)).rung is Rung.ISOLATE


@pytest.mark.parametrize("parts", [(0,), (0, 1)])
@pytest.mark.parametrize("revision", [REPLACES.revision + 1, REPLACES.revision - 1])
def test_by_a_revision_that_is_in_force_no_more_a_person_is_asked_before_anything(
    revision: int, parts: tuple[int, ...]
) -> None:
    table = refused_then_told_once(*parts)
    table.switches = in_force(revision)
    (asking,) = swept(table, ENDS)
    assert table.answer(ENDS + 121, ask(asking.id)).verdict == "parked"
    assert (asking.done, len(asking.findings)) == ((), len(parts))
    decided = next(each for each in asking.timeline if each.stage == "decided")
    assert decided.detail.endswith("; that revision is in force no more, so a person decides")
    assert pages(table) == 2


def test_what_the_revision_in_force_has_begun_waits_for_nobody() -> None:
    table = refused_then_told_once()
    edited = REPLACES.model_copy(update={"revision": REPLACES.revision + 1, "settle_seconds": 300.0})
    table.switches = in_force(edited.revision)
    table.take(ENDS - 1, findings(seen(ENDS - 2, edited, kind=Kind.GPU_SLOWDOWN, component=gpu(1))))
    (acting,) = swept(table, ENDS)
    assert (acting.policy.approval, len(acting.findings)) == (False, 1)

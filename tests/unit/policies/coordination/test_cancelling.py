"""What took a reason away closes what only settles, whichever comes first, and is noted on what has begun."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.contract.decisions import AnyMessage, FindingsMessage
from policies.contract.events import Component
from policies.contract.restraints import ApproveMessage, Cancellation
from policies.contract.vocabulary import Action, ComponentType
from policies.coordination.leases import MOST_CANCELLED, cancel, nobodys
from policies.coordination.snapshot import Keys
from policies.coordination.states import IncidentStatus
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, POLICY, ask, at, finding, findings, plan


def over(seconds: float, *, policy: str = POLICY, component: str = "", node: str = "i-1") -> FindingsMessage:
    told = Cancellation(
        policy=policy,
        generation=f"{node}#0",
        at=at(seconds),
        event_id=f"e{seconds}",
        component=component,
        text="gpu.reset",
    )
    return FindingsMessage(cluster=CLUSTER, findings=(), cancellations=(told,))


def settling(*messages: AnyMessage) -> DecisionTable:
    table = DecisionTable()
    table.take(1, *messages)
    return table


def test_an_incident_that_only_settles_closes_as_cleared_and_wakes_nobody() -> None:
    table = settling(findings(finding()))
    table.take(5, over(4))
    assert table.incident.status is IncidentStatus.SETTLING
    assert table.answer(21, ask(table.incident.id)).verdict == "closed"
    incident = table.incident
    assert (incident.outcome, incident.acted) == ("cleared", False)
    assert incident.reason == f"{POLICY}: gpu.reset; nothing was touched"
    assert [entry.alert for entry in incident.timeline if entry.alert == "page"] == []
    lease = table.store.read(CLUSTER, Keys(leases=frozenset({"i-1#0"}))).leases["i-1#0"]
    assert (lease.released, lease.outcome) == (True, "cleared")


def test_what_was_cancelled_before_it_was_heard_of_is_cleared_as_well() -> None:
    table = settling(over(4))
    assert table.incidents == []
    table.take(5, findings(finding(seen=at(3))))
    assert table.answer(26, ask(table.incident.id)).verdict == "closed"
    assert table.incident.outcome == "cleared"


@pytest.mark.parametrize(("also", "verdict"), [(("0000:4b:00",), "closed"), ((), "act")])
def test_a_reset_by_uuid_clears_a_fault_at_the_address_of_that_gpu(also: tuple[str, ...], verdict: str) -> None:
    at_address = finding().model_copy(update={"component": Component(type=ComponentType.GPU, pci="0000:4b:00")})
    table = settling(findings(at_address))
    (told,) = over(4, component="gpu:GPU-1f0c").cancellations
    by_uuid = told.model_copy(update={"also": also})
    table.take(5, FindingsMessage(cluster=CLUSTER, findings=(), cancellations=(by_uuid,)))
    assert table.answer(21, ask(table.incident.id)).verdict == verdict


def test_a_fault_that_comes_after_stands() -> None:
    table = settling(over(4))
    table.take(6, findings(finding(seen=at(5))))
    assert table.answer(27, ask(table.incident.id)).verdict == "act"


@pytest.mark.parametrize(
    "told", [over(4, policy="another"), over(4, component="gpu:0000:99:00"), over(4, node="i-2"), over(-1)]
)
def test_what_speaks_of_something_else_changes_nothing(told: FindingsMessage) -> None:
    table = settling(findings(finding()))
    table.take(5, told)
    assert table.answer(21, ask(table.incident.id)).verdict == "act"


def test_while_one_finding_stands_it_goes_on() -> None:
    table = settling(findings(finding(), finding(name="b", policy=plan(Action.ISOLATE, name="other"))))
    table.take(5, over(4))
    assert table.answer(21, ask(table.incident.id)).verdict == "act"


def test_when_the_reason_of_each_is_gone_it_is_cleared() -> None:
    table = settling(findings(finding(), finding(name="b", policy=plan(Action.ISOLATE, name="other"))))
    table.take(5, over(4))
    table.take(6, over(5, policy="other"))
    assert table.answer(21, ask(table.incident.id)).verdict == "closed"
    assert table.incident.reason == f"{POLICY}: gpu.reset; other: gpu.reset; nothing was touched"


def test_what_has_begun_goes_on_with_a_note() -> None:
    table = settling(findings(finding()))
    table.answer(21, ask(table.incident.id))
    table.take(25, over(24))
    assert table.incident.status is IncidentStatus.ACTING
    assert (table.incident.timeline[-1].stage, table.incident.timeline[-1].alert) == ("eased", "none")
    assert not table.take(26, over(24)).incidents


def test_a_fault_that_is_over_is_not_acted_on_for_an_approval() -> None:
    table = settling(findings(finding(policy=plan(approval=True, settle=0))))
    table.answer(2, ask(table.incident.id))
    table.take(30, over(29))
    table.take(40, ApproveMessage(cluster=CLUSTER, incident=table.incident.id, by="kim"))
    assert table.incident.status is IncidentStatus.PARKED
    assert "its reason is gone" in table.incident.timeline[-1].detail


def test_again_and_older_ones_write_nothing() -> None:
    table = settling(findings(finding()))
    table.take(5, over(4))
    assert not table.take(6, over(4)).leases
    assert not table.take(7, over(3)).leases


MESSAGES = (
    findings(finding(name="a", seen=at(2))),
    over(4),
    findings(finding(name="b", seen=at(3))),
    over(1, policy="other"),
    over(3),
)


@given(st.permutations([*MESSAGES, *MESSAGES]))
def test_any_order_and_any_repeat_end_the_same(messages: list[FindingsMessage]) -> None:
    table = DecisionTable()
    for each in messages:
        table.take(5, each)
    table.answer(30, ask(table.incident.id))
    assert (table.incident.outcome, table.incident.acted) == ("cleared", False)


def test_a_new_finding_on_a_cleared_node_opens_another_incident_under_the_next_fence() -> None:
    table = settling(findings(finding()))
    table.take(5, over(4))
    table.answer(21, ask(table.incident.id))
    table.take(30, findings(finding(name="new", seen=at(29))))
    assert [each.status for each in table.incidents] == [IncidentStatus.CLOSED, IncidentStatus.SETTLING]
    assert table.incidents[1].fence > table.incidents[0].fence


@given(st.permutations(range(MOST_CANCELLED + 5)))
def test_what_a_lease_remembers_is_bounded_whatever_the_order(order: list[int]) -> None:
    lease = nobodys(CLUSTER, "i-1#0", at(0))
    for number in order:
        (told,) = over(number, policy=f"p{number}").cancellations
        lease = cancel(lease, told)
    assert [one.policy for one in lease.cancelled] == [f"p{number}" for number in range(MOST_CANCELLED + 4, 4, -1)]

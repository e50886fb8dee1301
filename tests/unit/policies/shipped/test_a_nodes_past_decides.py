"""What befell a node before, and its neighbours within the hour, decide what is done for the same line of a log."""

from collections.abc import Iterable
from datetime import timedelta

import pytest

from policies.contract.decisions import Finding, FindingsMessage
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Orchestrator, PolicyMode
from policies.coordination.decide import decide
from policies.coordination.incident import Incident
from policies.coordination.rules import Rules
from policies.coordination.snapshot import Snapshot
from policies.facts.history import History, Past
from policies.facts.recent import RECENT, Recent, Sign
from policies.facts.snapshot import ReadDocument, ReadFacts
from tests.tools.envelopes import at
from tests.tools.shipped_stories import P5, fired, judged, xid

NOW = at(0)
RESET = (Rung.ISOLATE, Rung.SUSPEND_JOB, Rung.RESET_GPU)
OLD = "570.148.08"
LEMON = (15, 9, 3)


def known(*days_ago: float, others: int = 0, same: int = 0) -> ReadFacts:
    """Return the facts of a node that was reset so long ago, each time, and of so many neighbours without their GSP.

    ``same`` of them have its driver, the others another one.
    """
    past = tuple(
        Past(
            incident=f"incident-{days}",
            policy="p",
            fault="gpu.xid 48",
            at=NOW - timedelta(days=days),
            did=RESET,
            repaired_at=NOW - timedelta(days=days) + timedelta(minutes=5),
        )
        for days in days_ago
    )
    signs = tuple(
        Sign(
            "gpu.xid 119", f"i-9{each}", NOW - timedelta(minutes=9), type=P5, driver=OLD if each < same else "580.95.05"
        )
        for each in range(others)
    )
    documents = {
        ("history", "i-1"): History(cluster="c", instance="i-1", past=past),
        ("maintenance", "i-1"): None,
        ("recent", ""): RECENT.parse(Recent(cluster="c", signs=signs).model_dump_json()),
    }
    return ReadFacts({key: ReadDocument(one, NOW) for key, one in documents.items()}, NOW)


def opened(found: Iterable[Finding]) -> Incident:
    """Return the incident that *found* open where all policies are armed."""
    armed = (
        each.model_copy(update={"policy": each.policy.model_copy(update={"mode": PolicyMode.ACTIVE})}) for each in found
    )
    message = FindingsMessage(cluster="c", findings=tuple(armed))
    made = decide(Snapshot("c"), [message], NOW, rules=Rules({"c": Orchestrator.EKS})).incidents
    return next(change.after for change in made if change.after.status.is_open)


@pytest.mark.parametrize(
    ("days_ago", "leads", "rung"),
    [
        ((), "xid-48-double-bit-error", Rung.RESET_GPU),
        ((9,), "xid-48-double-bit-error", Rung.RESET_GPU),
        ((3,), "gpu-reset-did-not-last", Rung.REPLACE_NODE),
        (LEMON, "gpu-reset-did-not-last", Rung.REPLACE_NODE),
    ],
)
def test_a_second_reset_within_a_week_is_skipped(days_ago: tuple[float, ...], leads: str, rung: Rung) -> None:
    incident = opened(judged(xid(48, "double bit error"), known=known(*days_ago)))
    assert (incident.policy.name, incident.policy.approval) == (leads, False)
    assert rung in {each.rung for each in incident.rungs}


def test_a_lemon_that_would_be_mended_again_is_replaced_once_a_person_says_so() -> None:
    incident = opened(judged(xid(119, "Timeout after 6s of waiting for RPC response"), known=known(*LEMON)))
    assert (incident.policy.name, incident.policy.approval) == ("lemon-node-failed-after-repair", True)
    assert incident.findings[0].facts == {"node.lemon_score": 88, "node.repairs_7d": 1, "facts.age_seconds": 0.0}


def test_what_costs_a_lemon_its_node_anyway_waits_for_nobody() -> None:
    found = judged(xid(79, "GPU has fallen off the bus."), known=known(*LEMON))
    assert fired(found) == {"lemon-node", "xid-79-fell-off-the-bus"}
    assert (opened(found).policy.name, opened(found).policy.approval) == ("xid-79-fell-off-the-bus", False)


def test_a_node_that_failed_twice_is_no_lemon_yet() -> None:
    assert fired(judged(xid(79, "GPU has fallen off the bus."), known=known(9, 3))) == {"xid-79-fell-off-the-bus"}


@pytest.mark.parametrize(("others", "resets"), [(0, True), (2, True), (3, False), (9, False)])
def test_from_the_fourth_node_without_its_gsp_on_none_is_reset(others: int, *, resets: bool) -> None:
    found = judged(xid(119, "Timeout after 6s of waiting for RPC response"), known=known(others=others))
    assert ("xid-119-gsp-does-not-answer" in fired(found)) is resets


@pytest.mark.parametrize(
    ("others", "same", "resets"), [(9, 0, True), (9, 2, True), (9, 3, False), (3, 3, False), (0, 0, True)]
)
def test_where_drivers_are_told_only_nodes_with_the_same_one_keep_a_gpu_from_its_reset(
    others: int, same: int, *, resets: bool
) -> None:
    facts = known(others=others, same=same)
    found = judged(xid(119, "Timeout after 6s of waiting for RPC response"), known=facts, driver=OLD)
    assert ("xid-119-gsp-does-not-answer" in fired(found)) is resets

"""Which events say that a fault is over, and of which faults nothing says so."""

import re
from pathlib import Path

import pytest

from policies.contract.recoveries import ENDED_BY, ENDS, MEASURED, ended_by
from policies.contract.vocabulary import Kind
from tests.tools.envelopes import event

AGENT = Path(__file__).parents[4] / "agent"


@pytest.mark.parametrize(
    ("kind", "attributes", "over"),
    [
        (Kind.CONDITION_CLEARED, {"of": "gpu.overheated"}, {Kind.GPU_OVERHEATED}),
        (Kind.CONDITION_CLEARED, {"of": "no.kind"}, set()),
        (Kind.CONDITION_CLEARED, {"of": 3}, set()),
        (Kind.CONDITION_CLEARED, {}, set()),
        (Kind.NODE_RECOVERED, {}, {Kind.NODE_NOT_READY, Kind.NODE_SILENT}),
        (Kind.NETWORK_LINK_UP, {"of": "network.link_down"}, {Kind.NETWORK_LINK_DOWN}),
        (Kind.GPU_RECOVERY_ACTION, {"recovery_action": 0}, {Kind.GPU_RECOVERY_ACTION}),
        (Kind.GPU_RECOVERY_ACTION, {"recovery_action": 4}, set()),
        (Kind.GPU_RECOVERY_ACTION, {"recovery_action": False}, set()),
        (Kind.GPU_XID, {"xid": 154, "recovery_action": 0}, {Kind.GPU_RECOVERY_ACTION}),
        (Kind.GPU_XID, {"xid": 79, "recovery_action": 0}, set()),
        (Kind.GPU_OVERHEATED, {}, set()),
    ],
)
def test_what_says_that_a_fault_is_over(kind: Kind, attributes: dict[str, str | int], over: set[Kind]) -> None:
    assert ended_by(event(kind=kind, xid=None, attributes=attributes)) == over


def test_what_a_reset_cannot_clear_is_not_over() -> None:
    assert not ENDED_BY[Kind.GPU_RESET] & {
        Kind.GPU_LOST,
        Kind.GPU_ROW_REMAP_FAILED,
        Kind.GPU_SRAM_THRESHOLD_EXCEEDED,
    }


def test_every_kind_whose_end_is_told_by_measuring_is_measured_somewhere() -> None:
    sources = [path.read_text(encoding="utf-8") for path in sorted(AGENT.rglob("*.py"))]
    measuring = "\n".join(text for text in sources if "Holds" in text)
    named = {Kind[name] for name in re.findall(r"\bKind\.([A-Z0-9_]+)", measuring)}
    assert named >= MEASURED
    assert ENDS >= MEASURED

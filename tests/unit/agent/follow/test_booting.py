from datetime import timedelta

import pytest

from agent.follow.booting import BootGrace
from agent.parsers.programs import parse_program
from agent.parsers.sighting import Sighting
from policies.contract.vocabulary import Kind, Severity
from tests.tools.agent_events import START

GRACE = BootGrace(300, lambda: START, lambda: 60)  # booted a minute ago
NOT_READY = 'I1122 setters.go:602] "Node became not ready" node="n" condition={"type":"Ready","status":"False"}'


def said(seconds: float, kind: Kind = Kind.NODE_NOT_READY) -> Sighting:
    sighting = Sighting(kind, Severity.ERROR, None, {"x": 1})
    return GRACE.noted([sighting], START + timedelta(seconds=seconds))[0]


def test_a_service_that_is_not_ready_yet_is_no_fault_while_the_node_boots() -> None:
    booting = said(0)
    assert (booting.severity, booting.attributes) == (Severity.INFO, {"x": 1, "booting": True})
    assert said(239).severity is Severity.INFO
    assert said(240) == Sighting(Kind.NODE_NOT_READY, Severity.ERROR, None, {"x": 1})


def test_the_kubelets_own_words_are_among_them() -> None:
    [sighting] = parse_program("kubelet", NOT_READY)
    assert GRACE.noted([sighting], START)[0].attributes["booting"] is True


@pytest.mark.parametrize("kind", [Kind.FABRIC_MANAGER_ERROR, Kind.IMEX_ERROR, Kind.NVSWITCH_SXID, Kind.GPU_XID])
def test_what_is_said_of_hardware_is_as_true_at_boot(kind: Kind) -> None:
    assert said(0, kind).severity is Severity.ERROR

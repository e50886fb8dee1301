"""Physical faults as real agents tell of them: which shipped policies fire, and which act leads where several do.

Companions of one error ask for the same, or for so much less that the graver act includes it. The lines go through the
agent's own parsers. Where two policies that touch something differ, the pair stands in `DIFFER` with the reason.
"""

import itertools

import pytest

from tests.tools.shipped_faults import FAULTS, Fault
from tests.tools.shipped_stories import RANKS, TOUCHING, fired, judged, lead, policies_by_name, unanswered

CONTAINED = "xid-94-contained-memory-error"
DIFFER = {
    ("gpu-recovery-action-reset", CONTAINED): "the driver's recovery action outranks its companion",
    ("xid-48-double-bit-error", CONTAINED): "a double bit error takes the GPU with it, contained or not",
    ("gpu-uncorrected-ecc-again", CONTAINED): "three in an hour: the part goes, not the process",
    ("nvswitch-fatal-sxid", "xid-74-nvlink-error"): "the switch behind the link is what failed",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.says)
def test_these_policies_fire_and_this_act_leads(fault: Fault) -> None:
    found = judged(fault.told, fault.instance_type)
    assert fired(found) == fault.fires
    gravest = lead(found)[1]
    assert gravest is fault.act
    assert gravest in policies_by_name()[fault.by].do


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.says)
def test_policies_of_one_fault_touch_the_same_unless_it_is_said_why(fault: Fault) -> None:
    policies = policies_by_name()
    touching = sorted(
        name for name in fired(judged(fault.told, fault.instance_type)) if TOUCHING & {*policies[name].do}
    )
    for one, other in itertools.combinations(touching, 2):
        assert {*policies[one].do} == {*policies[other].do} or {(one, other), (other, one)} & DIFFER.keys()


def test_each_difference_is_shown_by_a_fault_and_its_first_is_the_graver() -> None:
    policies = policies_by_name()
    shown = [fired(judged(fault.told, fault.instance_type)) for fault in FAULTS]
    for pair in DIFFER:
        graver, lesser = (max(RANKS[action] for action in policies[name].do) for name in pair)
        assert graver > lesser
        assert any({*pair} <= names for names in shown)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.says)
def test_no_policy_asks_an_ordinary_fault_for_what_it_does_not_have(fault: Fault) -> None:
    """It would be no match, and set the alarm on unanswered conditions off each time."""
    assert unanswered(fault.told, fault.instance_type) == set()

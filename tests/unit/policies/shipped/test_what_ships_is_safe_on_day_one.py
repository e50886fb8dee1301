"""What a fresh deployment does with the shipped policies: it tells, and touches nothing until somebody arms it."""

import pytest

from policies.contract.vocabulary import Action, EvidenceRule, Kind, PolicyMode
from policies.expressions.expression import compile_expression
from policies.model import Policy
from policies.notices import notices
from tests.tools.shipped_stories import TOUCHING, policies_by_name, rulebook

FAMILIES = ("gpu.", "nvlink.", "nvswitch.", "fabric_manager.", "imex.", "pcie.", "network.")
SHIPPED = sorted(policies_by_name().values(), key=lambda policy: policy.name)
POLICIES = [one for one in SHIPPED if any(f'"{family}' in one.when for family in FAMILIES)]
# Kinds that ask for nothing, and why.
SILENT = {
    Kind.GPU_ECC_CORRECTED: "harmless one by one; the driver says by Xid 92 when there are many",
    Kind.GPU_RESET: "an act that was done, no fault",
    Kind.NETWORK_LINK_UP: "the end of a fault",
}
by_name = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
whatever_it_is_about = pytest.mark.parametrize("policy", SHIPPED, ids=lambda policy: policy.name)


@whatever_it_is_about
def test_what_touches_a_node_or_a_run_ships_in_shadow_and_what_only_tells_is_armed(policy: Policy) -> None:
    touches = TOUCHING & {*policy.do, *policy.otherwise}
    assert policy.mode is (PolicyMode.SHADOW if touches else PolicyMode.ACTIVE)


@whatever_it_is_about
def test_everything_it_asks_for_is_carried_out_today(policy: Policy) -> None:
    assert [str(note) for note in notices(policy)] == []


@whatever_it_is_about
def test_its_examples_show_both_when_it_fires_and_when_it_does_not(policy: Policy) -> None:
    assert {example.findings > 0 for example in policy.examples} == {True, False}


@by_name
def test_what_touches_has_a_ladder_a_limit_and_time_for_the_cause_to_show(policy: Policy) -> None:
    if TOUCHING & {*policy.do}:
        parks = Action.PAGE_OPERATOR in policy.do
        assert policy.otherwise or parks
        assert policy.limits
        assert policy.settle or policy.count.within >= 3600 or getattr(policy, "dwell", 0) or parks


@by_name
def test_a_reset_or_a_replacement_needs_evidence_that_outlasts_its_rungs(policy: Policy) -> None:
    if {Action.RESET_GPU, Action.REPLACE_NODE} & {*policy.do}:
        assert policy.evidence is not EvidenceRule.TRANSIENT


@by_name
def test_it_is_answered_without_cel_but_for_figures_that_are_looked_up(policy: Policy) -> None:
    for text in (policy.when, policy.unless):
        assert text is None or compile_expression(text).program is None or "minutes_since_checkpoint >" in text


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind.startswith(FAMILIES)])
def test_every_kind_of_gpus_and_fabric_has_a_policy_or_a_reason_to_have_none(kind: Kind) -> None:
    asked = [rule.name for rule in rulebook().rules if rule.when.discharge({"event.kind": kind.value}) is not None]
    assert bool(asked) is (kind not in SILENT)


@by_name
def test_nothing_is_done_to_the_node_that_accuses_a_remote(policy: Policy) -> None:
    if "network.peer_unresponsive" in policy.when:
        assert not TOUCHING & {*policy.do, *policy.otherwise}

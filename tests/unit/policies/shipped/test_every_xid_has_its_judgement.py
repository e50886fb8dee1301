"""No Xid falls through silently: NVIDIA's buckets and architectures, code by code, against all shipped policies."""

import pytest

from agent.parsers.sighting import Sighting
from policies.contract.catalog.xid import XidEntry, describe_xid, xid_catalog
from policies.contract.events import Component
from policies.contract.vocabulary import Action, ComponentType, Kind
from policies.expressions.expression import compile_expression
from tests.tools.shipped_stories import (
    B200,
    GB200,
    GPU,
    P3,
    P4D,
    P5,
    TOUCHING,
    Told,
    event_of,
    fired,
    judged,
    lead,
    policies_by_name,
    rulebook,
    unanswered,
)

CATALOG = sorted(xid_catalog().values(), key=lambda entry: entry.code)
FALLBACK = "xid-without-a-judgement"
NVLINK5 = range(144, 151)
MENDS = {Action.RESET_GPU, Action.REPLACE_NODE}


def told(code: int, **attributes: bool | int) -> list[Told]:
    component = Component(type=ComponentType.GPU, pci=GPU)
    return [Told(Sighting(Kind.GPU_XID, describe_xid(code).severity, component, {"xid": code, **attributes}))]


def xids(text: str) -> set[int]:
    """Return the codes that a condition names."""
    terms = (term for alternative in compile_expression(text).alternatives for term, _read in alternative)
    return {
        code for term in terms if term.path == "event.attributes.xid" for code in term.texts if isinstance(code, int)
    }


@pytest.mark.parametrize("instance_type", [P3, P4D, P5, B200, GB200, "p9.48xlarge"])
@pytest.mark.parametrize("entry", CATALOG, ids=lambda entry: str(entry.code))
def test_a_code_of_the_catalogue_is_never_passed_over(entry: XidEntry, instance_type: str) -> None:
    assert judged(told(entry.code), instance_type)
    assert unanswered(told(entry.code), instance_type) == set()


def test_the_fallback_excepts_exactly_the_codes_that_others_judge() -> None:
    policies = policies_by_name()
    unless = policies[FALLBACK].unless
    assert unless
    others = set[int]().union(*(xids(one.when) for one in policies.values() if one.name != FALLBACK))
    assert xids(unless) == others


@pytest.mark.parametrize("code", [0, 175, 177, 999, 65_535])
def test_a_code_that_nobody_described_is_told_and_touches_nothing(code: int) -> None:
    assert fired(judged(told(code))) == {FALLBACK}
    assert lead(judged(told(code)))[1] is Action.ALERT


@pytest.mark.parametrize(
    "entry", [one for one in CATALOG if one.bucket in {"application", "symptom"}], ids=lambda one: str(one.code)
)
def test_what_is_the_applications_or_a_symptom_touches_nothing(entry: XidEntry) -> None:
    found = judged(told(entry.code))
    assert not any(TOUCHING & set(finding.policy.do) for finding in found)


@pytest.mark.parametrize(
    "entry",
    [one for one in CATALOG if one.action in MENDS and one.code not in NVLINK5],
    ids=lambda one: str(one.code),
)
def test_what_the_vendor_answers_with_a_reset_or_a_replacement_gets_it(entry: XidEntry) -> None:
    assert lead(judged(told(entry.code)))[1] is entry.action


@pytest.mark.parametrize("code", NVLINK5)
def test_nvlink_of_blackwell_is_judged_by_fatal_and_nonfatal(code: int) -> None:
    assert lead(judged(told(code, fatal=True), B200))[1] is Action.RESET_GPU
    assert lead(judged(told(code, fatal=False), B200))[1] is Action.RECORD
    assert lead(judged(told(code), B200))[1] is Action.ALERT


@pytest.mark.parametrize(
    "entry",
    [one for one in CATALOG if one.action is Action.RESTART_PROCESS and one.bucket != "application"],
    ids=lambda one: str(one.code),
)
def test_what_the_vendor_answers_with_a_new_process_touches_no_hardware(entry: XidEntry) -> None:
    assert lead(judged(told(entry.code)))[1] is Action.RESTART_PROCESS


@pytest.mark.parametrize(
    ("value", "act"),
    [
        (0, Action.RECORD),
        (1, Action.RESET_GPU),
        (2, Action.REPLACE_NODE),
        (3, Action.ALERT),
        (4, Action.RESET_GPU),
        (5, Action.PAGE_OPERATOR),
        (6, Action.RESET_GPU),
        (7, Action.REPLACE_NODE),
        (8, Action.ALERT),
    ],
)
def test_a_recovery_action_is_judged_by_its_value(value: int, act: Action) -> None:
    found = judged(told(154, recovery_action=value))
    assert (len(fired(found)), lead(found)[1]) == (1, act)


def test_the_index_spares_the_fallback_the_codes_that_others_judge() -> None:
    asked = {code: [rule.name for rule, _rest in rulebook().candidates(event_of(told(code)[0]))] for code in (79, 999)}
    assert FALLBACK not in asked[79]
    assert asked[999] == [FALLBACK]

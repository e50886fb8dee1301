"""Policies are held against those only that may be true of the same event, and what is told is as if against all."""

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.contract.vocabulary import PolicyMode
from policies.lint.meeting import may_meet
from policies.lint.reading import Reading
from policies.lint.together import flaws_of, flaws_together
from policies.loader import load_document
from policies.model import Policy
from tests.tools.envelopes import shipped_documents

_PLAIN = (
    *('event.kind == "gpu.xid"', 'event.kind == "gpu.ecc_uncorrected"', 'event.kind in ["gpu.xid", "nvswitch.sxid"]'),
    *('event.kind.startsWith("gpu.")', 'event.kind.startsWith("")', 'event.kind != "gpu.xid"'),
    *("event.attributes.xid == 79", "event.attributes.xid in [79, 48]", "event.attributes.xid == 1"),
    *("event.attributes.xid > 60", "event.attributes.xid != 79", "event.count >= 2", "event.count < 2"),
    *('event.severity == "critical"', 'event.severity in ["error", "critical"]', "event.injected", "!event.injected"),
    *('node.instance_type == "p5.48xlarge"', 'job.orchestrator == "eks"', "size(event.message) > 3"),
)
_WHEN = st.recursive(
    st.sampled_from(_PLAIN),
    lambda inner: st.one_of(
        st.builds("({} && {})".format, inner, inner),
        st.builds("({} || {})".format, inner, inner),
        st.builds("!({})".format, inner),
    ),
    max_leaves=6,
)
_FIELDS = st.fixed_dictionaries(
    {
        "when": _WHEN,
        "unless": st.none() | st.sampled_from(_PLAIN),
        "priority": st.sampled_from([0, 0, 0, 1, 2]),
        "mode": st.sampled_from([PolicyMode.ACTIVE, PolicyMode.SHADOW, PolicyMode.ACTIVE, PolicyMode.OFF]),
    }
)


def policy(document: dict[str, object]) -> Policy:
    loaded = load_document(document, try_examples=False)
    assert isinstance(loaded, Policy)
    return loaded


@pytest.fixture(scope="module")
def shipped() -> Sequence[Policy]:
    return [policy({**each, "mode": "active"}) for each in shipped_documents()]


def as_if_against_all(readings: Sequence[Reading]) -> list[object]:
    acting = [at for at, read in enumerate(readings) if not read.is_off and read.acts]
    return list(flaws_of(readings, combinations(acting, 2)))


@given(fields=st.lists(_FIELDS, min_size=2, max_size=30), first=st.integers(0, 200))
def test_what_is_told_is_the_same_as_of_each_against_each(
    shipped: Sequence[Policy], fields: list[dict[str, object]], first: int
) -> None:
    made = [shipped[(first + at) % len(shipped)].model_copy(update=each) for at, each in enumerate(fields)]
    readings = [Reading(one) for one in made]
    assert list(flaws_together(readings)) == as_if_against_all(readings)


def test_of_the_shipped_ones_and_their_copies_too(shipped: Sequence[Policy]) -> None:
    copies = [one.model_copy(update={"name": f"{one.name}-2"}) for one in shipped]
    readings = [Reading(one) for one in (*shipped, *copies)]
    told = list(flaws_together(readings))
    assert told == as_if_against_all(readings)
    assert {flaw.code for _at, flaw in told} >= {"L801", "L804"}


@pytest.mark.parametrize(
    "shape", ["{kind}", "{kind} && event.attributes.xid == {at}", "{kind} && node.name == 'n-{at}'"]
)
def test_a_thousand_policies_take_thousands_of_looks_not_half_a_million(shipped: Sequence[Policy], shape: str) -> None:
    kinds = ["gpu.xid", "gpu.ecc_uncorrected", "nvswitch.sxid", "host.oom_kill"]
    same = shape == "{kind}"
    whens = [
        shape.format(kind=f'event.kind == "{"k" * (at + 1) if same else kinds[at % 4]}"', at=at) for at in range(1000)
    ]
    conditions = [Reading(shipped[0].model_copy(update={"when": when})).possible for when in whens]
    assert len(may_meet(conditions)) < 5000

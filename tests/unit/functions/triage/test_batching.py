"""Findings go in as few messages as their size allows, the same findings always in the same ones."""

import json
from datetime import datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from functions.triage.batching import MESSAGE_LIMIT_BYTES, pack
from functions.triage.packed import Encoder
from policies.contract.decisions import Finding, parse_message
from policies.contract.events import Component, JobRef
from policies.contract.vocabulary import ComponentType
from policies.evaluator import evaluate
from tests.tools.envelopes import NOW, at, delivery, event, node, rules

SQS_LIMIT = 256 * 1024


def findings(number: int, message: str = "") -> list[Finding]:
    parts = [Component(type=ComponentType.GPU, index=one) for one in range(number)]
    events = [event(seq, component=part, message=f"{message}{seq}") for seq, part in enumerate(parts)]
    return list(evaluate([delivery(*events)], state="", rulebook=rules(), now=at(1)).findings)


def test_no_findings_are_no_message() -> None:
    assert pack([]) == []


def test_a_message_is_what_coordinate_reads() -> None:
    (message,) = pack(findings(3))
    assert parse_message(message.to_json()) == message
    assert len(message.findings) == 3


MOMENTS = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)).map(  # noqa: DTZ001 - made aware here
    lambda moment: moment.replace(tzinfo=timezone(timedelta(hours=2)))
)
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("window_start", "first_observed_at", "observed_at", "queued_at", "decided_at"), MOMENTS),
        "node": st.builds(node, st.text(min_size=1)),
        "component": st.none(),
        "messages": st.lists(st.text(), max_size=2).map(tuple),
        "attributes": st.dictionaries(st.text(), st.one_of(st.text(), st.floats(), st.integers(), st.booleans())),
        "facts": st.dictionaries(st.text(), st.integers()),
    },
)


@given(st.lists(CHANGES, max_size=4))
def test_what_is_encoded_once_for_several_says_what_each_would(changes: list[dict[str, object]]) -> None:
    (plain,) = findings(1)
    encoder = Encoder()
    for finding in (plain.model_copy(update=one) for one in changes):
        text, whole = encoder.encode(finding), finding.to_json()
        assert json.loads(text) == json.loads(whole)
        assert text.isascii() == whole.isascii()
        assert not {"\ufffe", "\uffff"} & set(text)


def test_every_field_of_a_finding_is_encoded() -> None:
    (plain,) = findings(1)
    whole = plain.model_copy(update={"job": JobRef(id="j")})
    assert json.loads(Encoder().encode(whole)).keys() == Finding.model_fields.keys()


def test_order_and_repeats_change_nothing() -> None:
    found = findings(5)
    straight, mixed = pack(found), pack([*reversed(found), *found])
    assert [one.to_json() for one in straight] == [one.to_json() for one in mixed]
    assert [one.deduplication_id for one in straight] == [one.deduplication_id for one in mixed]


def test_many_findings_are_cut_below_the_queues_limit_and_none_is_lost() -> None:
    found = findings(900, message="NVRM: " + "x" * 400)
    messages = pack(found)
    assert len(messages) > 1
    assert all(len(one.to_json().encode()) < SQS_LIMIT for one in messages)
    assert sorted(finding.id for one in messages for finding in one.findings) == sorted(one.id for one in found)
    assert len({one.deduplication_id for one in messages}) == len(messages)
    assert MESSAGE_LIMIT_BYTES < SQS_LIMIT


def test_clusters_never_share_a_message() -> None:
    other = evaluate([delivery(event(0), identity=node(cluster="d"))], state="", rulebook=rules(), now=NOW).findings
    assert [one.cluster for one in pack([*other, *findings(1)])] == ["c", "d"]


def test_a_finding_too_large_to_travel_goes_without_what_made_it_so() -> None:
    (plain,) = findings(1)
    huge = plain.model_copy(update={"attributes": {"dump": "é" * 100_000}, "messages": ("x",)})
    (message,) = pack([huge])
    assert message.findings[0] == plain.model_copy(update={"attributes": {}, "messages": ()})
    assert plain.component is not None
    monster = huge.model_copy(update={"component": plain.component.model_copy(update={"uuid": "x" * 250_000})})
    (message,) = pack([monster])
    assert len(message.to_json().encode()) < SQS_LIMIT
    assert message.findings[0].id == plain.id

"""An envelope is read whole, in part with reasons, or refused with one."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.contract.envelope import ENVELOPE_LIMIT_BYTES, Envelope, parse_envelope
from policies.contract.errors import BadInputError
from policies.contract.identifiers import event_id

Document = dict[str, Any]

EVENT: Document = {
    "id": event_id(node="i-1", boot_id="b", source="kernel_log", cursor=7),
    "seq": 4,
    "kind": "gpu.xid",
    "severity": "critical",
    "source": "kernel_log",
    "observed_at": "2026-03-01T10:00:00.000001Z",
    "first_observed_at": "2026-03-01T11:00:00+01:00",
    "component": {"type": "gpu", "pci": "0000:4b:00"},
    "attributes": {"xid": 79, "fatal": True, "ratio": 0.5, "process": "python"},
}
ENVELOPE: Document = {
    "schema_version": 1,
    "node": {"cluster": "c", "name": "n", "instance_id": "i-1", "network_path": ["nn-1", "nn-2"]},
    "spool_id": "s",
    "first_seq": 4,
    "sent_at": "2026-03-01T10:00:01Z",
    "events": [EVENT],
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


def _body(**changes: object) -> bytes:
    return json.dumps({**ENVELOPE, **changes}).encode()


def test_what_is_written_is_read_back() -> None:
    envelope = parse_envelope(_body()).envelope
    assert parse_envelope(envelope.to_json().encode()).envelope == envelope


def test_a_node_tells_its_driver_and_one_of_before_is_read_as_one_that_does_not() -> None:
    old = parse_envelope(_body()).envelope
    assert old.node.driver_version == ""
    new = parse_envelope(_body(node={**ENVELOPE["node"], "driver_version": "570.148.08"})).envelope
    assert new.node.driver_version == "570.148.08"
    assert parse_envelope(new.to_json().encode()).envelope == new


def test_the_wire_form_leaves_nulls_out_and_gives_times_in_microseconds_and_z() -> None:
    text = parse_envelope(_body()).envelope.to_json()
    assert "null" not in text
    assert '"first_observed_at":"2026-03-01T10:00:00.000000Z"' in text
    assert '"observed_at":"2026-03-01T10:00:00.000001Z"' in text


def test_scalars_keep_their_types() -> None:
    (event,) = parse_envelope(_body()).envelope.events
    assert [type(value) for value in event.attributes.values()] == [int, bool, float, str]


def test_unknown_extra_fields_of_a_known_version_are_ignored() -> None:
    parsed = parse_envelope(_body(colour="blue", events=[{**EVENT, "mood": 3}]))
    assert len(parsed.envelope.events) == 1
    assert parsed.rejected == ()


def test_an_unknown_kind_rejects_its_event_and_the_others_go_on() -> None:
    parsed = parse_envelope(_body(events=[EVENT, {**EVENT, "seq": 5, "kind": "gpu.melted"}, "rubbish"]))
    assert [event.seq for event in parsed.envelope.events] == [4]
    assert [(bad.seq, bad.reason.split(":")[0]) for bad in parsed.rejected] == [(5, "kind"), (None, "document")]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"\xff\xfe", "not UTF-8 JSON"),
        (b"[" * 100_000, "not UTF-8 JSON"),
        (b"[]", "a JSON list"),
        (b"{}", "schema_version None is unknown"),
        (_body(schema_version=2), "schema_version 2 is unknown"),
        (_body(node=None), "node:"),
        (_body(events={}), "events is not a list"),
        (_body(sent_at="2026-03-01T10:00:01"), "sent_at:"),
        (b" " * (ENVELOPE_LIMIT_BYTES + 1), "at most 262144"),
    ],
)
def test_what_is_no_envelope_is_refused_with_the_reason_and_what_to_do(body: bytes, reason: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse_envelope(body)
    assert reason in caught.value.message
    assert caught.value.hint


@given(st.binary(max_size=300) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_an_envelope_or_bad_input(body: bytes) -> None:
    try:
        parsed = parse_envelope(body)
    except BadInputError:
        return
    assert isinstance(parsed.envelope, Envelope)


@given(st.dictionaries(st.sampled_from(sorted(ENVELOPE)), JSON), st.dictionaries(st.sampled_from(sorted(EVENT)), JSON))
def test_a_mangled_envelope_loses_no_event_without_a_reason(shell: Document, event: Document) -> None:
    mangled = {**EVENT, **event}
    try:
        parsed = parse_envelope(json.dumps({**ENVELOPE, "events": [EVENT, mangled], **shell}).encode())
    except BadInputError:
        return
    sent = shell.get("events", [EVENT, mangled])
    assert len(parsed.envelope.events) + len(parsed.rejected) == len(sent)


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_moment_at_the_edge_of_the_calendar_spoils_nothing_but_its_event(moment: str) -> None:
    parsed = parse_envelope(_body(events=[EVENT, {**EVENT, "seq": 5, "observed_at": moment}]))
    assert [event.seq for event in parsed.envelope.events] == [4]
    assert "no moment of the calendar" in parsed.rejected[0].reason
    with pytest.raises(BadInputError, match="sent_at"):
        parse_envelope(_body(sent_at=moment))


@pytest.mark.parametrize(
    "change",
    [
        {"seq": 10**4000},
        {"count": 10**4000},
        {"job": {"id": "n" * 2000}},
        {"job": {"id": "a/b", "checkpoint": "s3://b/" + "p" * 5000}},
    ],
)
def test_numbers_and_names_without_an_end_are_rejected(change: Document) -> None:
    (refused,) = parse_envelope(_body(events=[{**EVENT, **change}])).rejected
    assert refused.seq == (None if "seq" in change else EVENT["seq"])


def test_a_spool_that_begins_without_an_end_is_refused() -> None:
    with pytest.raises(BadInputError, match="first_seq"):
        parse_envelope(_body(first_seq=10**4000))


@given(st.text(st.sampled_from('a\\"\ufffe\uffff\ufffd\U0001f600'), max_size=12))
def test_what_is_printed_travels_whole_in_characters_that_queues_take(text: str) -> None:
    wire = parse_envelope(_body(events=[{**EVENT, "message": text}])).envelope.to_json()
    assert not {"\ufffe", "\uffff"} & set(wire)
    assert parse_envelope(wire.encode()).envelope.events[0].message == text


def test_how_jobs_go_travels_beside_events_and_a_remark_that_is_wrong_spoils_nothing() -> None:
    right = {"id": "train/llama", "orchestrator": "eks", "step": 9100, "saved_step": 9000, "saved_ago": 61.5}
    wrong: list[object] = [{"id": "x", "step": -1}, {"id": "y", "saved_ago": "NaN"}, 7]
    for jobs in ([right], [*wrong, right]):
        told = parse_envelope(_body(jobs=jobs)).envelope
        assert [(one.id, one.step, one.saved_ago) for one in told.jobs] == [("train/llama", 9100, 61.5)]
        assert len(told.events) == 1
    assert parse_envelope(_body(jobs="none")).envelope.jobs == ()


@pytest.mark.parametrize(
    ("size", "known"), [(64, 64), (0, None), (-8, None), (True, None), ("64", None), (6.5, None), (10**4000, None)]
)
def test_a_mistyped_size_of_a_run_costs_no_event(size: object, known: int | None) -> None:
    told = parse_envelope(_body(events=[{**EVENT, "job": {"id": "train/llama", "world_size": size}}]))
    assert [event.job and event.job.world_size for event in told.envelope.events] == [known]
    assert told.rejected == ()

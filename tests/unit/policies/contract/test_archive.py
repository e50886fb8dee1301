"""A line of the archive gives back the very bytes that came, and a bad line costs nothing but itself."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.contract.archive import (
    WHATS,
    ArchivedRecord,
    Happening,
    HappeningLine,
    RecordLine,
    format_happening,
    format_record,
    parse_happening,
    parse_record,
)
from policies.contract.errors import BadInputError

AT = datetime(2026, 11, 30, 7, 1, 2, 123456, tzinfo=UTC)
RECORD = ArchivedRecord(AT, "faults", "shardId-000000000001:4959", b'{"schema_version":1,"events":[]}')
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(
    body=st.binary(max_size=60) | JSON.map(lambda data: json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"))
)
def test_whatever_came_is_read_back_byte_for_byte(body: bytes) -> None:
    record = RECORD._replace(body=body)
    line = format_record(record)
    assert line.count(b"\n") == 1
    assert parse_record(line).body == (body if b'"raw":' in line else body.replace(b"\n", b" ").replace(b"\r", b" "))
    assert parse_record(line)._replace(body=b"") == record._replace(body=b"")
    assert RecordLine.model_validate_json(line, strict=False).id == record.id


def test_an_envelope_stands_in_its_line_as_it_was_sent() -> None:
    body = b'{"b": 1.0,\n "a": "\\ud800", "b": 2} '
    line = format_record(RECORD._replace(body=body))
    assert body.replace(b"\n", b" ") in line
    assert len(parse_record(line).body) == len(body)


def test_where_a_node_is_comes_back_with_its_record() -> None:
    record = RECORD._replace(place=("nn-1", 'nn-","envelope":'))
    assert parse_record(format_record(record)) == record


def test_a_line_in_other_order_or_with_fields_of_tomorrow_is_read_as_well() -> None:
    told = json.loads(format_record(RECORD))
    line = json.dumps({"tomorrow": 1, **dict(sorted(told.items()))}).encode() + b"\n"
    assert parse_record(line) == RECORD


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "no JSON"),
        (b"[]", "no JSON object"),
        (b"[" * 100_000, "no JSON"),
        (b'{"v":2,"lane":"faults","arrived_at":"2026-11-30T07:00:00Z","id":"1","envelope":{}}', "v is '2'"),
        (b'{"v":1,"arrived_at":"2026-11-30T07:00:00Z","id":"1","envelope":{}}', "lane is missing"),
        (b'{"v":1,"lane":"faults","arrived_at":"2026-11-30T07:00:00","id":"1","envelope":{}}', "no offset"),
        (b'{"v":1,"lane":"faults","arrived_at":"2026-11-30T07:00:00Z","id":1,"envelope":{}}', "id is no text"),
        (b'{"v":1,"lane":"faults","arrived_at":"2026-11-30T07:00:00Z","id":"1"}', "neither envelope nor raw"),
        (b'{"v":1,"lane":"faults","arrived_at":"2026-11-30T07:00:00Z","id":"1","raw":"%"}', "raw is no base64"),
        (b'{"v":1,"lane":"faults","arrived_at":"2026-11-30T07:00:00Z","id":"1","raw":7}', "raw is no base64"),
        (b'{"v":1,"lane":"faults","arrived_at":"2026-11-30T07:00:00Z","id":"1","place":7,"raw":""}', "list of texts"),
    ],
)
def test_a_bad_line_says_what_is_wrong_with_it(line: bytes, reason: str) -> None:
    with pytest.raises(BadInputError, match=reason):
        parse_record(line)


@pytest.mark.parametrize("what", WHATS)
def test_a_version_of_a_document_is_read_back(what: str) -> None:
    happening = Happening(AT, next(each for each in WHATS if each == what), "i-1:00000003", {"status": "\u00fc\ud800"})
    line = format_happening(happening)
    assert parse_happening(line) == happening
    assert HappeningLine.model_validate_json(line.replace(b"\\ud800", b"")).id == happening.id


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"v":1,"at":"2026-11-30T07:00:00Z","id":"1","word":{}}', "none of incident"),
        (b'{"v":1,"at":"2026-11-30T07:00:00Z","id":"1","act":[]}', "none of incident"),
        (b'{"v":1,"at":"noon","id":"1","act":{}}', "noon"),
        (b'{"v":1,"at":7,"id":"1","act":{}}', "no line of the archive"),
        (b'{"at":"2026-11-30T07:00:00Z","id":"1","act":{}}', "v is missing"),
    ],
)
def test_a_bad_version_says_what_is_wrong_with_it(line: bytes, reason: str) -> None:
    with pytest.raises(BadInputError, match=reason):
        parse_happening(line)


def test_records_stand_by_arrival_then_lane_then_id() -> None:
    later = RECORD._replace(arrived_at=AT + timedelta(microseconds=1))
    overflow, next_one = RECORD._replace(lane="overflow"), RECORD._replace(id=f"{RECORD.id}1")
    assert sorted([later, overflow, next_one, RECORD], key=lambda one: one.order) == [RECORD, next_one, overflow, later]


@pytest.mark.parametrize("at", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00"])
def test_a_moment_beyond_the_calendar_makes_a_bad_line_and_nothing_worse(at: str) -> None:
    record = b'{"v":1,"lane":"faults","arrived_at":"%b","id":"1","raw":""}\n' % at.encode()
    told = b'{"v":1,"at":"%b","id":"1","act":{}}\n' % at.encode()
    for parse, line in ((parse_record, record), (parse_happening, told)):
        with pytest.raises(BadInputError):
            parse(line)

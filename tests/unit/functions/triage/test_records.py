"""Both lanes' records are read as Lambda hands them over."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.triage.records import read_records
from functions.triage.settings import Settings
from policies.contract.errors import SettingsError
from tests.tools.envelopes import at, kinesis_event, sqs_event

SETTINGS = {
    "FLEET_TABLE": "fleet",
    "POLICIES_TABLE": "policies",
    "DECISIONS_QUEUE_URL": "https://queue",
    "REJECTS_BUCKET": "rejects",
    "REJECTS_DAYS": "90",
    "ARCHIVE_BUCKET": "archive",
}


def test_a_kinesis_record_has_its_arrival_and_its_sequence_number() -> None:
    (record,) = read_records(kinesis_event(b'{"a": "\xc3\xa9"}', arrived=1.5, first=7))
    assert (record.body, record.arrived_at) == (b'{"a": "\xc3\xa9"}', at(1.5))
    assert (record.failure_id, record.id) == ("7", "shardId-000000000000:7")
    assert record.in_order


def test_a_queues_message_has_its_sent_time_and_keeps_no_order() -> None:
    (record,) = read_records(sqs_event('{"a": "é"}', arrived=2, names=["m-1"]))
    assert (record.body, record.arrived_at, record.failure_id) == ('{"a": "é"}'.encode(), at(2), "m-1")
    assert not record.in_order


def test_data_that_is_no_base64_is_kept_to_be_rejected_by_sight() -> None:
    event = kinesis_event(b"x")
    event["Records"][0]["kinesis"]["data"] = "a"
    assert read_records(event)[0].body == b"a"


@given(body=st.binary(max_size=200), broken=st.sampled_from(["", "\n", " ", "\r\n"]))
def test_the_bytes_are_those_that_were_put(body: bytes, broken: str) -> None:
    event = kinesis_event(b"x")
    data = base64.b64encode(body).decode()
    event["Records"][0]["kinesis"]["data"] = data[:4] + broken + data[4:]
    assert read_records(event)[0].body == body


def test_no_records_are_no_records() -> None:
    assert read_records({}) == []


def test_settings_are_read_whole_and_name_what_is_missing() -> None:
    assert Settings.from_environment(SETTINGS).rejects_bucket == "rejects"
    for name in SETTINGS:
        with pytest.raises(SettingsError, match=name):
            Settings.from_environment({**SETTINGS, name: " "})

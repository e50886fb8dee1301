"""An object's name says when its first line came, and differs when its lines do."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from policies.contract.archive_names import (
    EVENTS,
    HOUR,
    INCIDENTS,
    ObjectName,
    day_prefix,
    hour_of,
    hour_prefix,
    object_key,
    parse_day,
    parse_key,
)

AT = datetime(2026, 11, 30, 7, 1, 2, 123456, tzinfo=UTC)


def test_a_name_reads_as_the_day_the_hour_and_the_moment() -> None:
    key = object_key(EVENTS, AT, "faults-shardId-000000000001", b"lines\n")
    assert key.startswith("events/2026/11/30/07/20261130T070102.123456Z-faults-shardId-000000000001-")
    assert parse_key(key) == ObjectName(AT, key, "events", "faults-shardId-000000000001")
    assert key.startswith(hour_prefix(EVENTS, AT))
    assert key.startswith(day_prefix(EVENTS, AT.date()))


def test_the_same_lines_have_the_same_name_and_fewer_lines_another() -> None:
    whole = object_key(EVENTS, AT, "overflow", b"1\n2\n")
    assert object_key(EVENTS, AT, "overflow", b"1\n2\n") == whole
    assert object_key(EVENTS, AT, "overflow", b"1\n") != whole


def test_names_sort_as_their_first_arrivals_do_across_hours() -> None:
    moments = [AT + timedelta(minutes=17 * at) for at in range(9)]
    keys = [object_key(INCIDENTS, moment, "incidents", b"") for moment in moments]
    assert keys == sorted(keys)


def test_hours_are_those_of_utc() -> None:
    there = AT.astimezone(timezone(timedelta(hours=5, minutes=45)))
    assert hour_prefix(EVENTS, there) == "events/2026/11/30/07/"
    assert hour_of(there) == datetime(2026, 11, 30, 7, tzinfo=UTC)
    assert hour_of(there) + HOUR == datetime(2026, 11, 30, 8, tzinfo=UTC)


def test_a_source_that_could_not_stand_in_a_name_is_made_to() -> None:
    found = parse_key(object_key(EVENTS, AT, "over flow/é#1", b""))
    assert found is not None
    assert found.source == "over_flow_1"


@pytest.mark.parametrize(
    "key",
    [
        "events/readme.txt",
        "rejects/2026-11-30/x",
        "events/2026/11/30/07/20261399T070102.123456Z-overflow-00112233445566778899aabbccddeeff.jsonl.gz",
        "events/2026/11/30/07/20261130T070102.123456Z-overflow-00112233445566778899aabbccddeeff.jsonl.gz.tmp",
    ],
)
def test_what_is_no_object_of_the_archive_is_told_apart(key: str) -> None:
    assert parse_key(key) is None


@pytest.mark.parametrize("year", [1, 33, 999, 1970, 9999])
def test_a_key_of_any_year_is_found_again(year: int) -> None:
    first = datetime(year, 1, 2, 3, tzinfo=UTC)
    key = object_key(EVENTS, first, "faults", b"{}")
    found = parse_key(key)
    assert found is not None
    assert found.first == first
    assert key.startswith(day_prefix(EVENTS, first.date()))
    assert parse_day(day_prefix(EVENTS, first.date())) == first.date()

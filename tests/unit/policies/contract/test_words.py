"""Names, moments and cut messages behave the same everywhere."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.contract.decisions import AskMessage, FindingsMessage, SweepMessage, parse_message
from policies.contract.errors import BadInputError
from policies.contract.events import MESSAGE_LIMIT_BYTES, Component, cut_message
from policies.contract.identifiers import stable_id
from policies.contract.times import format_time, parse_time
from policies.contract.vocabulary import ComponentType, Kind, Severity
from tests.tools.schemas import drifted

MOMENTS = st.datetimes(min_value=datetime(1990, 1, 1), max_value=datetime(2100, 1, 1))  # noqa: DTZ001 - given a zone below


@given(MOMENTS, st.integers(min_value=-14, max_value=14))
def test_a_moment_survives_the_wire_whatever_its_zone(naive: datetime, hours: int) -> None:
    moment = naive.replace(tzinfo=timezone(timedelta(hours=hours)))
    assert parse_time(format_time(moment)) == moment


@given(MOMENTS, MOMENTS)
def test_moments_sort_as_their_texts_do(first: datetime, second: datetime) -> None:
    one, two = first.replace(tzinfo=UTC), second.replace(tzinfo=UTC)
    assert (one < two) == (format_time(one) < format_time(two))


def test_a_moment_without_an_offset_is_refused() -> None:
    with pytest.raises(ValueError, match="no offset"):
        parse_time("2026-03-01T10:00:00")


@given(st.lists(st.text(max_size=5), max_size=4), st.lists(st.text(max_size=5), max_size=4))
def test_ids_differ_when_any_part_differs(first: list[str], second: list[str]) -> None:
    assert (stable_id(*first) == stable_id(*second)) == (first == second)


@given(st.text(max_size=3000))
def test_a_cut_message_fits_and_is_a_prefix(text: str) -> None:
    cut, was_cut = cut_message(text)
    assert len(cut.encode()) <= MESSAGE_LIMIT_BYTES
    assert was_cut == (len(text.encode()) > MESSAGE_LIMIT_BYTES)
    assert text.startswith(cut)


def test_severities_rise() -> None:
    assert [severity.rank for severity in Severity] == [0, 1, 2, 3]


def test_each_kind_is_a_family_and_a_word() -> None:
    assert all(kind.count(".") == 1 and kind == kind.lower() for kind in Kind)


def test_components_of_one_node_have_keys_of_their_own() -> None:
    gpus = [Component(type=ComponentType.GPU, pci=f"0000:{bus:02x}:00") for bus in range(8)]
    links = [Component(type=ComponentType.NVLINK, pci="0000:01:00", link=link) for link in range(18)]
    assert len({component.key for component in (*gpus, *links)}) == 26


def test_messages_are_told_apart_by_their_type() -> None:
    ask = AskMessage(cluster="c", incident="i", attempt=1, step=0, task_token="t")
    sweep = SweepMessage(cluster="c", at=datetime(2026, 3, 1, 10, 0, 30, tzinfo=UTC))
    findings = FindingsMessage(cluster="c", findings=())
    assert [type(parse_message(message.to_json())) for message in (ask, sweep, findings)] == [
        AskMessage,
        SweepMessage,
        FindingsMessage,
    ]
    with pytest.raises(BadInputError, match="not a message for coordinate"):
        parse_message(b'{"type": "order"}')


def test_sweeps_of_one_minute_are_one_sweep_and_a_repeated_ask_gets_through() -> None:
    minute = [SweepMessage(cluster="c", at=datetime(2026, 3, 1, 10, 0, second, tzinfo=UTC)) for second in (1, 59)]
    asks = [AskMessage(cluster="c", incident="i", attempt=1, step=0, task_token=token) for token in ("a", "b")]
    assert len({message.deduplication_id for message in minute}) == 1
    assert len({message.deduplication_id for message in asks}) == 2


def test_schemas_agree_with_the_models() -> None:
    assert drifted() == []

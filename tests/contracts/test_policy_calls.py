"""Who wrote policies: the twin and DynamoDB keep the same promises."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import boto3
import pytest
from moto import mock_aws

from functions.adapters.policy_calls import DynamoCalls
from functions.ports.calls import ANY, Call, Calls
from functions.twins.calls import MemoryCalls
from tests.tools.envelopes import NOW
from tests.tools.tables import create_policies_table

AT = NOW.replace(microsecond=0)
CALL = Call(id="e-1", at=AT, policy="p", item="live", by="kim (SSO Admin)", action="PutItem", way="console")


@pytest.fixture(params=["memory", "dynamodb"])
def calls(request: pytest.FixtureRequest) -> Iterator[Calls]:
    if request.param == "memory":
        yield MemoryCalls()
        return
    with mock_aws():
        client = boto3.client("dynamodb")
        create_policies_table(client)
        yield DynamoCalls(client, "policies")


def test_what_is_kept_twice_is_there_once(calls: Calls) -> None:
    calls.keep(CALL)
    calls.keep(CALL)
    assert calls.of("p") == [CALL]


def test_those_of_a_policy_come_oldest_first_with_those_that_may_be_of_it(calls: Calls) -> None:
    later, any_, other = (
        replace(CALL, id="e-2", at=AT + timedelta(seconds=9)),
        replace(CALL, id="e-3", at=AT + timedelta(seconds=5), policy=ANY, item=""),
        replace(CALL, id="e-4", policy="q"),
    )
    for call in (later, any_, other, CALL):
        calls.keep(call)
    assert calls.of("p") == [CALL, any_, later]
    assert calls.of("r") == [any_]


def test_one_call_that_wrote_two_items_is_two(calls: Calls) -> None:
    for item in ("live", "head"):
        calls.keep(replace(CALL, item=item))
    assert [call.item for call in calls.of("p")] == ["head", "live"]


def test_a_name_as_long_as_a_key_may_be_is_kept(calls: Calls) -> None:
    """DynamoDB takes 2,048 bytes for the partition and 1,024 for the sort key."""
    long = replace(CALL, policy="é" * 1000)
    calls.keep(long)
    assert calls.of("é" * 1000) == [long]
    assert calls.of("é" * 999) == []


def test_a_note_that_somebody_broke_by_hand_tells_of_nobody() -> None:
    with mock_aws():
        client = boto3.client("dynamodb")
        create_policies_table(client)
        calls = DynamoCalls(client, "policies")
        calls.keep(CALL)
        client.put_item(TableName="policies", Item={"name": {"S": "#call#p"}, "sk": {"S": "x"}, "at": {"S": "soon"}})
        assert calls.of("p") == [CALL]

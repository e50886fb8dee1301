"""Notices: the twin and DynamoDB keep the same promises, and the outbox reads what is kept."""

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from functions.adapters.notice_items import notice_item
from functions.adapters.notices import DynamoNotices
from functions.outbox.notices import announcement_of
from functions.ports.notices import Notice, Notices
from functions.twins.notices import MemoryNotices
from tests.tools.envelopes import NOW
from tests.tools.tables import create_tables

NOTICE = Notice(
    id="n1", kind="rejected", policy="p", at=NOW, by="kim", text='p: "so"\nis refused', detail={"revision": 3}
)
Kept = tuple[Notices, Callable[[], int]]


@pytest.fixture(params=["memory", "dynamodb"])
def kept(request: pytest.FixtureRequest) -> Iterator[Kept]:
    if request.param == "memory":
        memory = MemoryNotices()
        yield memory, lambda: len(memory.told)
        return
    with mock_aws():
        client = boto3.client("dynamodb")
        create_tables(client)
        yield DynamoNotices(client, "incidents"), lambda: client.scan(TableName="incidents")["Count"]


def test_a_notice_is_kept_once(kept: Kept) -> None:
    notices, count = kept
    notices.tell(NOTICE)
    notices.tell(NOTICE.model_copy(update={"text": "later"}))
    notices.tell(NOTICE.model_copy(update={"id": "n2"}))
    assert count() == 2


def test_the_bus_hears_what_is_kept() -> None:
    record: dict[str, Any] = {"dynamodb": {"NewImage": notice_item(NOTICE)}}
    told = announcement_of(record)
    assert told is not None
    assert (told.id, told.type, told.at) == ("notice:n1", "Policy Rejected", NOW)
    assert told.detail == {
        "revision": 3,
        "notice": "rejected",
        "policy": "p",
        "by": "kim",
        "alert": "notify",
        "text": "p: 'so' is refused",
    }
    assert announcement_of({"dynamodb": {"OldImage": notice_item(NOTICE)}}) is None
    assert announcement_of({"dynamodb": {"NewImage": {"pk": {"S": "INCIDENT#1"}}}}) is None

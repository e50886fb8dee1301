"""What the documents of facts do: the twin and DynamoDB (on moto)."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Protocol

import boto3
import pytest
from moto import mock_aws

from functions.adapters.facts import DynamoFacts
from functions.ports.facts import FactKey, FactReader, FactWriter
from functions.twins.facts import MemoryFacts
from policies.facts.maintenance import BROKEN, read_maintenance
from policies.facts.registry import DOCUMENTS
from tests.tools.tables import create_tables

EXPIRES = datetime(2027, 3, 1, tzinfo=UTC)
KEY = FactKey("a", "maintenance", "i-1")


class Store(FactReader, FactWriter, Protocol):
    """Both sides of it."""


@pytest.fixture(params=["twin", "dynamodb"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    if request.param == "twin":
        yield MemoryFacts()
        return
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        create_tables(client)
        yield DynamoFacts(client, "fleet")


def test_what_is_kept_is_read_by_its_very_key(store: Store) -> None:
    keys = [FactKey("a", name, "one") for name in DOCUMENTS]
    for key in keys:
        store.keep(key, f'"{key.document}"', EXPIRES)
    assert len({DOCUMENTS[name].sort_key("one") for name in DOCUMENTS}) == len(DOCUMENTS)
    assert store.read(keys) == {key: f'"{key.document}"' for key in keys}
    assert store.read([key._replace(cluster="b") for key in keys]) == {}


def test_keeping_again_replaces(store: Store) -> None:
    store.keep(KEY, "1", EXPIRES)
    store.keep(KEY, "2", EXPIRES)
    assert store.read([KEY]) == {KEY: "2"}


def test_more_are_read_than_one_call_takes(store: Store) -> None:
    keys = [KEY._replace(subject=f"i-{number}") for number in range(120)]
    for key in keys[::40]:
        store.keep(key, key.subject, EXPIRES)
    assert sorted(store.read(keys)) == sorted(keys[::40])


def test_nobody_asked_for_is_nothing_read(store: Store) -> None:
    assert store.read([]) == {}


@pytest.mark.parametrize(
    "document", [{}, {"document": {"M": {"until": {"S": "2026-03-01T10:00:00Z"}}}}, {"document": {"N": "1"}}]
)
def test_a_document_that_somebody_made_no_text_of_is_unreadable_and_not_absent(document: dict[str, Any]) -> None:
    """Else a node in hand would be nobody's, and a history that nobody can read would be one without incidents."""
    with mock_aws():
        client = boto3.client("dynamodb", region_name="us-east-1")
        create_tables(client)
        client.put_item(
            TableName="fleet", Item={"pk": {"S": "CLUSTER#a"}, "sk": {"S": "NODE#i-1#maintenance"}, **document}
        )
        text = DynamoFacts(client, "fleet").read([KEY])[KEY]
    assert read_maintenance(text) is BROKEN
    for kind in DOCUMENTS.values():
        with pytest.raises(ValueError, match="JSON"):
            kind.parse(text)

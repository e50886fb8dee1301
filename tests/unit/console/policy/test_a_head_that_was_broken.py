"""`relight policy list` while the guard has not yet put right what somebody changed by hand: one hides no other."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import boto3
import pytest
from moto import mock_aws
from types_boto3_dynamodb import DynamoDBClient

from console.main import main
from functions.adapters.policies import DynamoPolicies
from functions.guard.guard import Guard
from functions.twins.notices import MemoryNotices
from functions.twins.triage import MemoryTelemetry
from tests.tools.editing import DOCUMENT, NAME, OTHER
from tests.tools.envelopes import NOW
from tests.tools.tables import create_policies_table

Shown = pytest.CaptureFixture[str]
HARMS: Mapping[str, dict[str, Any]] = {
    "a document that is no text": {"document": {"L": []}},
    "a document that is no JSON": {"document": {"S": "{"}},
    "a document that is no policy": {"document": {"S": "[]"}},
    "a revision that is no number": {"revision": {"S": "x"}},
    "a mode that is none": {"mode": {"M": {}}},
}


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[DynamoDBClient]:
    """A table with two policies."""
    monkeypatch.setenv("POLICIES_TABLE", "policies")
    with mock_aws():
        client = boto3.client("dynamodb")
        create_policies_table(client)
        table = DynamoPolicies(client, "policies")
        for document in (DOCUMENT, OTHER):
            table.put_live(document)
            Guard(table, MemoryNotices(), MemoryTelemetry(), lambda: NOW).look_at(document["name"])
        yield client


def harm(client: DynamoDBClient, name: str, values: Mapping[str, Any], sort: str = "head") -> None:
    key = {"name": {"S": name}, "sk": {"S": sort}}
    item = client.get_item(TableName="policies", Key=key)["Item"]
    client.put_item(TableName="policies", Item={**item, **values})


@pytest.mark.parametrize("values", HARMS.values(), ids=HARMS)
def test_a_head_that_was_broken_is_listed_as_such_beside_all_others(
    client: DynamoDBClient, values: dict[str, Any], capsys: Shown
) -> None:
    harm(client, NAME, values)
    assert main(["policy", "list", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["policies"]}
    assert (rows[OTHER["name"]]["revision"], rows[OTHER["name"]]["problems"], rows[OTHER["name"]]["broken"]) == (
        1,
        0,
        "",
    )
    assert rows[NAME]["problems"] if "problems" in rows[NAME] else "was changed by hand" in rows[NAME]["broken"]
    assert main(["policy", "list"]) == 0
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines()} == {NAME, OTHER["name"]}


def test_a_line_that_was_broken_is_listed_as_unknown(client: DynamoDBClient, capsys: Shown) -> None:
    harm(client, "HEADS", {f"p:{NAME}": {"S": "off"}})
    assert main(["policy", "list"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[1:3] for row in rows if row[0] == NAME] == [["?", "?"]]
    assert [row[1:4] for row in rows if row[0] == OTHER["name"]] == [["active", "rev", "1"]]


def test_an_older_revision_that_was_broken_is_not_promised_to_come_back(client: DynamoDBClient, capsys: Shown) -> None:
    harm(client, NAME, {"revision": {"S": "x"}}, "rev#00000001")
    assert main(["policy", "rollback", NAME, "--to", "1"]) == 1
    assert "an older one is lost here" in capsys.readouterr().err
    harm(client, NAME, {"mode": {"M": {}}})
    assert main(["policy", "show", NAME]) == 1
    assert "The guard writes it anew; edit `live` instead." in capsys.readouterr().err

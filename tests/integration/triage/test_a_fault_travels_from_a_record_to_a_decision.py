"""The Lambda handler on moto: Kinesis and SQS events in, decisions, states, rejects and log lines out."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import boto3
import pytest
from moto import mock_aws
from types_boto3_dynamodb import DynamoDBClient
from types_boto3_sqs import SQSClient

from functions.adapters.policies import DynamoPolicies
from functions.guard import handler as guard
from functions.triage import handler as triage
from policies.contract.decisions import FindingsMessage, parse_message
from policies.contract.errors import DependencyError
from tests.tools.envelopes import at, envelope, event, kinesis_event, shipped_documents, sqs_event
from tests.tools.policy_table import push
from tests.tools.tables import create_policies_table, create_tables


@dataclass(frozen=True)
class Account:
    dynamodb: DynamoDBClient
    sqs: SQSClient
    queue_url: str

    def decisions(self) -> list[FindingsMessage]:
        answer = self.sqs.receive_message(QueueUrl=self.queue_url, MaxNumberOfMessages=10)
        messages = [parse_message(one["Body"]) for one in answer.get("Messages", [])]
        return [one for one in messages if isinstance(one, FindingsMessage)]

    def items(self, prefix: str) -> list[dict[str, Any]]:
        found = self.dynamodb.scan(TableName="fleet")["Items"]
        return [
            dict(item) for item in found if item["sk"]["S"].startswith(prefix) or item["pk"]["S"].startswith(prefix)
        ]


def forget() -> None:
    """Let the next invocation be that of a cold worker."""
    triage.wire.cache_clear()
    guard.wire.cache_clear()


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    with mock_aws():
        dynamodb, sqs = boto3.client("dynamodb"), boto3.client("sqs")
        create_tables(dynamodb)
        create_policies_table(dynamodb)
        boto3.client("s3").create_bucket(Bucket="rejects")
        url = sqs.create_queue(QueueName="decisions.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
        for name, value in {
            "FLEET_TABLE": "fleet",
            "POLICIES_TABLE": "policies",
            "INCIDENTS_TABLE": "incidents",
            "DECISIONS_QUEUE_URL": url,
            "REJECTS_BUCKET": "rejects",
            "REJECTS_DAYS": "45",
            "ARCHIVE_BUCKET": "archive",
        }.items():
            monkeypatch.setenv(name, value)
        forget()
        policies = DynamoPolicies(dynamodb, "policies")
        names = push(policies, shipped_documents(), edited_by="test", now=at(0))
        guard.handle({"Records": [edit(name) for name in names]}, None)
        yield Account(dynamodb, sqs, url)
        forget()


def edit(name: str) -> dict[str, Any]:
    keys = {"name": {"S": name}, "sk": {"S": "live"}}
    return {"eventName": "MODIFY", "dynamodb": {"Keys": keys, "SequenceNumber": "1"}}


def lines(captured: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in captured.readouterr().out.splitlines() if line.startswith("{")]


def seconds_ago() -> float:
    """Return now, in the tests' own count of seconds."""
    return (datetime.now(UTC) - at(0)).total_seconds() - 1


def test_a_lost_gpu_reaches_the_decisions_queue_once(account: Account, capsys: pytest.CaptureFixture[str]) -> None:
    now = seconds_ago()
    body = envelope(event(0, now), sent=now).to_json()
    for _delivery in range(2):
        assert triage.handle(kinesis_event(body.encode(), arrived=now), None) == {"batchItemFailures": []}
        forget()
    triage.handle(sqs_event(body, arrived=now), None)
    (message,) = account.decisions()
    (finding,) = message.findings
    assert (finding.policy.name, finding.policy.revision) == ("xid-79-fell-off-the-bus", 1)
    assert not finding.late
    (state,) = account.items("NODE#")
    assert state["version"] == {"N": "1"}
    metrics = [line for line in lines(capsys) if "_aws" in line]
    assert [line.get("EventsReceived", [0])[0] for line in metrics] == [1, 0, 0]
    assert sum(line.get("EventsRepeated", [0])[0] for line in metrics) == 2
    assert {line["_aws"]["CloudWatchMetrics"][0]["Namespace"] for line in metrics} == {"Relight"}


def test_rubbish_lies_in_the_rejects_store_with_its_reason(account: Account) -> None:
    now = seconds_ago()
    good = envelope(event(0, now), sent=now).to_json().encode()
    kind = good.replace(b'"gpu.xid"', b'"gpu.nope"')
    version = good.replace(b'"schema_version":1', b'"schema_version":7')
    triage.handle(
        kinesis_event(b"\xff" * (1 << 20), kind, version, good.replace(b'"seq":0', b'"seq":1'), arrived=now), None
    )
    rejects = sorted(account.items("REJECTS#"), key=lambda item: int(item["size"]["N"]))
    assert len(rejects) == 3
    assert {int(item["expires"]["N"]) for item in rejects} == {int(at(now + 45 * 86_400).timestamp())}
    assert [("payload" in item, "s3_key" in item) for item in rejects] == [(True, False), (True, False), (False, True)]
    reasons = " | ".join(item["reason"]["S"] for item in rejects)
    assert "kind" in reasons
    assert "schema_version 7" in reasons
    assert "1048576 bytes" in reasons
    key = rejects[-1]["s3_key"]["S"]
    assert boto3.client("s3").head_object(Bucket="rejects", Key=key)["ContentLength"] == 1 << 20
    assert len(account.decisions()) == 1


def test_a_table_that_fails_for_a_while_rejects_nothing(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    now = seconds_ago()
    batch = kinesis_event(envelope(event(0, now), sent=now).to_json().encode(), arrived=now)
    monkeypatch.setenv("FLEET_TABLE", "gone")
    for _attempt in range(2):
        forget()
        with pytest.raises(DependencyError, match="ResourceNotFoundException"):
            triage.handle(batch, None)
    assert account.decisions() == []
    monkeypatch.setenv("FLEET_TABLE", "fleet")
    forget()
    triage.handle(batch, None)
    assert account.items("REJECTS#") == []
    assert len(account.decisions()) == 1


def test_an_edit_to_off_holds_from_the_next_batch_on(account: Account) -> None:
    now = seconds_ago()
    policies = DynamoPolicies(account.dynamodb, "policies")
    triage.handle(kinesis_event(envelope(event(0, now), sent=now).to_json().encode(), arrived=now), None)
    name = "xid-79-fell-off-the-bus"
    document = next(one for one in shipped_documents() if one["name"] == name)
    push(policies, [{**document, "mode": "off"}], edited_by="test", now=at(0))
    guard.handle({"Records": [edit(name)]}, None)
    later = envelope(event(1, now + 0.5), sent=now, identity=None, spool="other").to_json().encode()
    triage.handle(kinesis_event(later, arrived=now), None)
    assert len(account.decisions()) == 1

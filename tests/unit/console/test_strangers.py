"""What answers and is not AWS is told as such, by every command, and nothing that it took counts as done."""

import gc
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from console.answers import NotAwsError, changes, is_from_aws
from console.aws import session
from console.dlq.adapters.lanes import AwsTargets, KinesisStream
from console.dlq.adapters.redrives import DynamoRedrives
from console.incident.adapters.closings import SqsClosings
from console.main import main
from console.node.adapters import DynamoNodeCommands
from console.node.hands import DynamoHands
from functions.adapters.policies import DynamoPolicies
from policies.contract.commands.command import new_command
from policies.contract.commands.operations import CollectEvidence, Operation
from policies.contract.decisions import CloseMessage
from policies.contract.errors import DependencyError
from policies.coordination.switches import EVERYTHING
from policies.facts.maintenance import Maintenance
from tests.tools.envelopes import NOW, SHIPPED
from tests.tools.strangers import PAGE, STRANGERS, Saying, stranger

FILE = str(SHIPPED / "capacity-expiring.yaml")
TABLE = ("--table", "t")
QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/decisions.fifo"
WRITES = (
    ("policy", "stop", "--reason", "3 am", *TABLE),
    ("policy", "start", *TABLE),
    ("policy", "push", FILE, *TABLE),
    ("policy", "set-mode", "any", "off", *TABLE),
    ("policy", "rollback", "any", *TABLE),
    ("incident", "approve", "4be1", "--yes"),
    ("incident", "deny", "4be1", "--reason", "no", "--yes"),
    ("incident", "close", "4be1", "--reason", "seen to", "--yes"),
    ("incident", "verdict", "4be1", "healthy"),
    ("node", "maintenance", "i-0abc", "--for", "2h"),
    ("node", "run", "i-0abc", "collect_evidence"),
    ("dlq", "redrive", "rejects", "--yes"),
)
READS = (
    ("policy", "stop", "--reason", "3 am"),
    ("policy", "list", *TABLE),
    ("policy", "history", "any", *TABLE),
    ("policy", "pull", "--to", "pulled", *TABLE),
    ("policy", "explain", "--incident", "4be1"),
    ("policy", "backtest", "--events", "s3://bucket"),
    ("policy", "report"),
    ("policy", "record", "4be1"),
    ("incident", "list"),
    ("node", "commands", "i-0abc"),
    ("dlq", "list"),
    ("archive", "stats"),
    ("archive", "stats", "s3://bucket/prefix"),
    ("checkpoints", "inspect", "s3://bucket/run"),
)


@pytest.fixture(autouse=True)
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_PROFILE", "POLICIES_TABLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("console.aws.TRIES", 1)
    monkeypatch.setattr("console.aws.BULK_TRIES", 1)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(params=STRANGERS)
def address(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with stranger(STRANGERS[request.param]) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        yield address


def test_no_command_believes_a_stranger(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (*WRITES, *READS):
        assert main(words) == 1, words
        shown = capsys.readouterr()
        assert shown.out == "", words
        assert f"something that is not AWS answered at {address}" in shown.err, words
        assert "AWS_ENDPOINT_URL" in shown.err, words
        assert len(shown.err.splitlines()) == 1, shown.err


def test_machines_get_no_document_of_a_stop_that_nobody_confirmed(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "stop", "--json", *TABLE]) == 1
    assert capsys.readouterr().out == ""


def client(service: str) -> Any:  # noqa: ANN401 - of whatever service
    return session().client(service)  # type: ignore[call-overload]  # its overloads want a literal


NODE = "arn:aws:ec2:us-east-1:123456789012:instance/i-0abc"
HELD = Maintenance(until=NOW + timedelta(hours=1), since=NOW, by="kim", why="cables")
COMMAND = new_command("c" * 32, NODE, Operation.COLLECT_EVIDENCE, CollectEvidence(), NOW, by="kim")
ADAPTERS: dict[str, Callable[[], object]] = {
    "a switch": lambda: DynamoPolicies(client("dynamodb"), "t").put_live({"name": EVERYTHING, "mode": "off"}),
    "an edit": lambda: DynamoPolicies(client("dynamodb"), "t").replace_live(None, {"name": "p", "mode": "off"}),
    "a close": lambda: SqsClosings(client("sqs"), QUEUE).send(
        CloseMessage(cluster="west", incident="4be1", by="kim", reason="seen to"), NOW
    ),
    "a command": lambda: DynamoNodeCommands(client("dynamodb"), "t").put(COMMAND),
    "maintenance": lambda: DynamoHands(client("dynamodb"), "t", lambda: NOW).put("west", "i-0abc", HELD),
    "what is sent again": lambda: KinesisStream(client("kinesis"), "faults").put("k", b"{}"),
    "a mark": lambda: DynamoRedrives(client("dynamodb"), "t").mark("4be1", NOW),
    "a function": lambda: AwsTargets(client("sqs"), client("sns"), client("lambda")).call("f", {}),
}


def test_no_write_counts_as_done_that_a_stranger_took(address: str) -> None:
    for what, write in ADAPTERS.items():
        with pytest.raises(DependencyError, match="something that is not AWS answered") as told:
            write()
        assert isinstance(told.value.__cause__, NotAwsError), what
        del told
    gc.collect()  # no connection is left open, which pytest would make an error of (ResourceWarning)


@pytest.mark.parametrize(
    ("headers", "body", "is_it"),
    [
        ({"x-amzn-RequestId": "4be1"}, b"{}", True),
        ({"X-Amz-Request-Id": "4BE1", "x-amz-id-2": "x"}, object(), True),
        ({}, b"<Response><ResponseMetadata><RequestId>4be1</RequestId></ResponseMetadata></Response>", True),
        ({}, b"<DescribeInstancesResponse><requestId>4be1</requestId></DescribeInstancesResponse>", True),
        ({"Server": "nginx"}, PAGE, False),
        ({"x-amzn-RequestId": ""}, b"{}", False),
        ({}, object(), False),
    ],
)
def test_aws_is_known_by_the_id_of_a_request(headers: dict[str, str], body: object, *, is_it: bool) -> None:
    assert is_from_aws(headers, body) is is_it


def test_a_refusal_of_aws_stays_what_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    body = b'{"__type": "com.amazonaws.dynamodb.v20120810#AccessDeniedException", "message": "no"}'
    with stranger(Saying(400, body, (("x-amzn-RequestId", "4be1"),))) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        assert main(["policy", "stop", *TABLE]) == 1
    shown = capsys.readouterr()
    assert "AccessDeniedException: no" in shown.err
    assert shown.out == ""


def test_what_cannot_be_read_is_told_whoever_sent_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with stranger(Saying(200, b"<html>not at all", (("x-amzn-RequestId", "4be1"),))) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address)
        assert main(["incident", "list"]) == 1
    assert "an answer that cannot be read" in capsys.readouterr().err


def test_what_writes_is_known_by_its_name() -> None:
    looks = ("GetItem", "BatchGetItem", "Scan", "DescribeStacks", "ListObjectsV2", "HeadObject", "ReceiveMessage")
    assert not [each for each in looks if changes(each)]
    assert all(changes(each) for each in ("PutItem", "UpdateItem", "SendMessage", "BatchWriteItem", "Invoke"))

"""`relight dlq` on the deployed stack: rejected records, messages nobody can read, batches that were given up."""

import base64
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from functions.adapters.rejects import AwsRejects
from functions.ports.triage import Reject
from local.aws.event_sources.on_failure import Source, object_key, record_of
from local.aws.event_sources.stream_batches import Batch, Discarded, StreamRecord
from policies.contract.decisions import AskMessage, SweepMessage
from policies.contract.envelope import Envelope, NodeIdentity
from policies.contract.events import FaultEvent
from policies.contract.identifiers import event_id
from policies.contract.vocabulary import Kind, Severity
from policies.contract.vocabulary import Source as SeenBy
from tests.integration.console.deployed import ON_CALL, Deployed, Relight

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = ("operations.md", "policies.md")  # the stack is one for all files here: others edit policies on it
Eventually = Callable[[Callable[[], Any]], Any]
TOKEN = "AQCEAAAAKgAAAAMAAAAAAAAAAc3VwZXJzZWNyZXQ"


def envelope(instance: str) -> dict[str, Any]:
    now = datetime.now(UTC)
    event = FaultEvent(
        id=event_id(node=instance, boot_id="b", source="kernel_log", cursor=1),
        seq=0,
        kind=Kind.HOST_OOM_KILL,
        severity=Severity.ERROR,
        source=SeenBy.KERNEL_LOG,
        observed_at=now,
        first_observed_at=now,
    )
    node = NodeIdentity(cluster="training", name=instance, instance_id=instance, boot_id="b")
    whole = Envelope(node=node, spool_id=f"{instance}:b", first_seq=0, sent_at=now, events=(event,))
    document: dict[str, Any] = json.loads(whole.to_json())
    return document


def encoded(document: dict[str, Any]) -> bytes:
    return json.dumps(document).encode()


def reasons(listed: dict[str, Any]) -> dict[str, int]:
    return {one["reason"]: one["count"] for one in listed["rejects"]["by_reason"]}


def test_an_untouched_stack_has_nothing_waiting(relight: Relight) -> None:
    status, shown = relight("dlq", "list")
    assert status == 0
    assert "Nothing waits for you" in shown
    for name in ("aws-events-dlq", "decisions-dlq", "overflow-dlq", "undelivered"):
        assert name in shown


def test_a_bad_record_lands_in_the_rejects_and_is_not_sent_while_it_is_still_bad(
    deployed: Deployed, relight: Relight, eventually: Eventually
) -> None:
    unknown_kind = envelope("i-kind")
    unknown_kind["events"].append({**unknown_kind["events"][0], "seq": 1, "kind": "gpu.melted"})
    deployed.put(encoded({**envelope("i-future"), "schema_version": 2}), "i-future")
    deployed.put(encoded(unknown_kind), "i-kind")
    eventually(lambda: relight.json("dlq", "list")[1]["rejects"]["count"] == 2)

    assert any(reason.startswith("schema_version 2 is unknown") for reason in reasons(relight.json("dlq", "list")[1]))
    _, shown = relight.json("dlq", "show", "rejects")
    assert {one["origin"] for one in shown["items"]} == {"faults", "faults/training/i-kind"}
    eventually(lambda: deployed.knows_node("i-kind"))  # the good event of the envelope went through

    status, outcome = relight.json("dlq", "redrive", "rejects", "--yes")
    assert status == 1
    assert [one["status"] for one in outcome["items"]] == ["refused", "refused"]
    assert relight.json("dlq", "list")[1]["rejects"]["redriven"] == 0


def test_what_an_older_pipeline_rejected_goes_through_once_this_one_can_read_it(
    deployed: Deployed, relight: Relight, eventually: Eventually
) -> None:
    outputs = deployed.outputs
    store = AwsRejects(
        deployed.client("dynamodb"), outputs["FleetTable"], deployed.client("s3"), outputs["RejectsBucket"]
    )
    payload = encoded(envelope("i-upgraded"))
    store.put([Reject("feed" * 8, datetime.now(UTC), "faults", "kind is unknown.", "Update the pipeline.", payload)])

    assert relight.json("dlq", "redrive", "rejects", "--id", "feed", "--dry-run")[1]["counts"]["planned"] == 1
    assert not deployed.knows_node("i-upgraded")
    assert relight("dlq", "redrive", "rejects", "--id", "feed", "--yes")[0] == 0
    eventually(lambda: deployed.knows_node("i-upgraded"))

    status, again = relight.json("dlq", "redrive", "rejects", "--id", "feed", "--yes")
    assert (status, again["items"][0]["status"]) == (1, "refused")
    assert "--again" in again["items"][0]["detail"]
    (item,) = relight.json("dlq", "show", "rejects", "--id", "feed")[1]["items"]
    assert item["redriven_at"]


def test_a_poisoned_decision_is_refused_at_once_is_shown_and_moved_back(
    deployed: Deployed, relight: Relight, eventually: Eventually
) -> None:
    sqs, queue = deployed.client("sqs"), deployed.outputs["DecisionsQueueUrl"]
    dead = deployed.dead_letters_of("DecisionsQueueUrl")
    ask = AskMessage(cluster="training", incident="i", attempt=1, step=0, task_token=TOKEN)
    poison = ask.to_json().replace('"step":0', '"step":"soon"')
    sqs.send_message(QueueUrl=queue, MessageBody=poison, MessageGroupId="training", MessageDeduplicationId="poison")

    def dead_decisions() -> int:
        queues = {one["name"]: one["messages"] for one in relight.json("dlq", "list")[1]["queues"]}
        return int(queues["decisions-dlq"])

    eventually(lambda: dead_decisions() == 1)
    status, shown = relight("dlq", "show", "decisions-dlq")
    assert status == 0
    assert "not a message for coordinate: ask.step" in shown
    assert TOKEN not in shown
    assert dead_decisions() == 1, "looking takes nothing away"

    # A message that is good, as if coordinate had been broken when it came.
    sweep = SweepMessage(cluster="training", at=datetime.now(UTC)).to_json()
    sqs.send_message(QueueUrl=dead, MessageBody=sweep, MessageGroupId="other", MessageDeduplicationId="sweep")
    assert relight.json("dlq", "redrive", "decisions-dlq", "--dry-run")[1]["counts"]["planned"] == 2
    status, moved = relight.json("dlq", "redrive", "decisions-dlq", "--yes")
    assert (status, moved["items"][0]["detail"]) == (0, "2 messages moved to decisions")
    eventually(lambda: dead_decisions() == 1)  # the poisoned one again, the other was understood
    (left,) = relight.json("dlq", "show", "decisions-dlq")[1]["items"]
    assert "not a message for coordinate" in left["why"]


def test_a_batch_that_a_mapping_gave_up_goes_back_onto_the_stream(
    deployed: Deployed, relight: Relight, eventually: Eventually
) -> None:
    now = datetime.now(UTC)
    data = base64.b64encode(encoded(envelope("i-given-up"))).decode()
    kinesis = {"partitionKey": "i-given-up", "sequenceNumber": "1", "data": data}
    event = {"Records": [{"eventSource": "aws:kinesis", "kinesis": kinesis}]}
    source = Source(
        mapping="0f1e",
        stream_arn=f"arn:aws:kinesis:us-east-1:123456789012:stream/{deployed.outputs['FaultsStream']}",
        shard="shardId-000000000000",
        function_arn=f"arn:aws:lambda:us-east-1:123456789012:function:{deployed.outputs['TriageFunction']}",
    )
    given_up = Discarded(Batch((StreamRecord("1", now, event["Records"][0], 1),), tries=4), "RecordAgeExceeded")
    record = record_of(given_up, source, handler_failed=True, now=now)
    deployed.client("s3").put_object(
        Bucket=deployed.outputs["RejectsBucket"],
        Key=object_key(source, now),
        Body=json.dumps({**record, "payload": json.dumps(event)}).encode(),
    )

    (item,) = relight.json("dlq", "show", "failures")[1]["items"]
    assert item["why"].startswith("RecordAgeExceeded: 1 records given up")
    assert relight("dlq", "redrive", "failures", "--yes")[0] == 0
    eventually(lambda: deployed.knows_node("i-given-up"))
    assert relight.json("dlq", "redrive", "failures", "--yes")[1]["redriven_before"] == 1


def test_an_event_that_could_not_be_delivered_reaches_intake_after_all(
    deployed: Deployed, relight: Relight, eventually: Eventually
) -> None:
    sqs, waiting = deployed.client("sqs"), deployed.outputs["UndeliveredQueueUrl"]
    target = deployed.outputs["AwsEventsQueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=target, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    told = {"TARGET_ARN": arn, "ERROR_CODE": "NO_PERMISSIONS", "ERROR_MESSAGE": "not allowed"}
    detail = {"instance-id": "i-0", "state": "running"}
    event = {"id": "e", "source": "aws.ec2", "detail-type": "EC2 Instance State-change Notification", "detail": detail}
    sqs.send_message(
        QueueUrl=waiting,
        MessageBody=json.dumps({**event, "time": "2026-03-01T00:00:00Z"}),
        MessageAttributes={name: {"DataType": "String", "StringValue": value} for name, value in told.items()},
    )
    (item,) = relight.json("dlq", "show", "undelivered")[1]["items"]
    assert item["why"] == f"could not be delivered to {arn}: NO_PERMISSIONS: not allowed"
    assert relight("dlq", "redrive", "undelivered", "--yes")[0] == 0
    assert relight.json("dlq", "show", "undelivered")[1]["items"] == []
    log = deployed.aws.data_dir / "logs" / f"{deployed.outputs['IntakeFunction']}.log"
    eventually(lambda: log.exists() and "END RequestId" in log.read_text())


def test_the_rights_in_the_runbook_are_those_that_were_used(deployed: Deployed) -> None:
    used = {call.action for call in deployed.aws.recorded_calls() if call.principal == ON_CALL}
    pages = "\n".join((DOCS / page).read_text() for page in PAGES)
    named = set(re.findall(r"`([a-z0-9]+:[A-Z]\w+)\*?`", pages))
    assert "sqs:StartMessageMoveTask" in used
    assert used <= named

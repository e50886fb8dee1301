"""Kinesis to Lambda: order, bisecting, partial failures, retries, age, and where given-up records go."""

import functools
import itertools
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from local.aws.server import EmbeddedAws
from tests.integration.local.stacks import Resources, Stack, arn, eventually, function, launch, mapping, received, role

Launched = Callable[[Resources], Stack]


def _resources(out: Path, *, shards: int = 1, report: bool = False, **properties: Any) -> dict[str, Any]:
    environment = {"REPORT": "yes"} if report else {}
    types = {"FunctionResponseTypes": ["ReportBatchItemFailures"]} if report else {}
    return {
        "Role": role(),
        "Stream": {"Type": "AWS::Kinesis::Stream", "Properties": {"ShardCount": shards}},
        "Function": function("sink.records", out, environment=environment),
        "Mapping": mapping(arn("Stream"), StartingPosition="TRIM_HORIZON", **types, **properties),
    }


def _put(stack: Stack, bodies: Sequence[dict[str, Any]], key: str = "node") -> None:
    records = [{"Data": json.dumps(body).encode(), "PartitionKey": body.get("key", key)} for body in bodies]
    stack.client("kinesis").put_records(StreamName=stack.outputs["Stream"], Records=records)


def _notes_of(stack: Stack, identifier: int) -> list[dict[str, Any]]:
    return [note for note in stack.notes() if identifier in note["ids"]]


def test_a_put_reaches_the_function_within_twenty_milliseconds_when_idle(launched: Launched, out: Path) -> None:
    stack = launched(_resources(out))
    _put(stack, [{"id": 0}])  # the first one starts the worker
    eventually(stack.notes)
    numbers = itertools.count(1)

    def delay() -> float:
        number = next(numbers)
        _put(stack, [{"id": number}])
        note = eventually(functools.partial(_notes_of, stack, number))[0]
        return float(note["at"] - note["event"]["Records"][0]["kinesis"]["approximateArrivalTimestamp"])

    eventually(lambda: delay() < 0.02)  # by then one of them was alone with the machine


def test_a_record_looks_as_lambda_shows_it(launched: Launched, out: Path) -> None:
    stack = launched(_resources(out))
    _put(stack, [{"id": 1}])
    record = eventually(stack.notes)[0]["event"]["Records"][0]
    assert record["eventSource"] == "aws:kinesis"
    assert record["eventName"] == "aws:kinesis:record"
    assert record["kinesis"]["partitionKey"] == "node"
    assert record["eventID"].startswith("shardId-000000000000:")


def test_each_key_keeps_its_order_over_shards_and_lanes(launched: Launched, out: Path) -> None:
    stack = launched(_resources(out, shards=2, ParallelizationFactor=3, BatchSize=7))
    bodies = [{"id": f"{key}-{number:03d}", "key": f"node-{key}"} for number in range(40) for key in "abcde"]
    for start in range(0, len(bodies), 50):
        _put(stack, bodies[start : start + 50])
    eventually(lambda: len(stack.ids()) == len(bodies))
    for key in "abcde":
        mine = [identifier for identifier in stack.ids() if identifier.startswith(key)]
        assert mine == sorted(mine)


def test_many_writers_at_once_lose_nothing(launched: Launched, out: Path) -> None:
    stack = launched(_resources(out))

    def write(writer: int) -> None:
        for number in range(20):
            _put(stack, [{"id": f"{writer}-{number:02d}"}], key=f"node-{writer}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    eventually(lambda: len(stack.ids()) >= 160)
    assert len(set(stack.ids())) == len(stack.ids()) == 160
    for writer in range(8):
        mine = [identifier for identifier in stack.ids() if identifier.startswith(f"{writer}-")]
        assert mine == sorted(mine)


def test_a_window_gathers_records_into_one_batch(launched: Launched, out: Path) -> None:
    stack = launched(_resources(out, MaximumBatchingWindowInSeconds=300, BatchSize=3))
    for number in range(3):
        _put(stack, [{"id": number}])
    eventually(lambda: stack.batches() == [[0, 1, 2]])


def test_a_window_that_never_fills_only_passes_time(launched: Launched, out: Path) -> None:
    stack = launched(_resources(out, MaximumBatchingWindowInSeconds=300, BatchSize=10_000))
    _put(stack, [{"id": 1}])
    eventually(lambda: stack.batches() == [[1]])


def test_a_failing_batch_blocks_its_shard_until_it_goes_through(launched: Launched, out: Path) -> None:
    stack = launched(_resources(out, BatchSize=1))
    _put(stack, [{"id": 1, "fail_times": 2}, {"id": 2}])
    eventually(lambda: stack.batches() == [[1], [1], [1], [2]])


def test_bisecting_isolates_the_poisoned_record_and_the_rest_goes_on(launched: Launched, out: Path) -> None:
    gathers: dict[str, Any] = {
        "MaximumBatchingWindowInSeconds": 300,
        "BatchSize": 4,
    }  # four that were put together come together
    stack = launched(_resources(out, BisectBatchOnFunctionError=True, MaximumRetryAttempts=1, **gathers))
    _put(stack, [{"id": number, "poison": number == 2} for number in range(4)])
    _put(stack, [{"id": number} for number in range(6, 10)])
    eventually(lambda: 9 in stack.ids())
    assert stack.batches().count([2]) == 2  # alone: tried once and retried once
    assert [0, 1] in stack.batches()
    assert [3] in stack.batches()


def test_after_a_partial_failure_everything_from_the_lowest_one_on_runs_again(launched: Launched, out: Path) -> None:
    stack = launched(_resources(out, report=True, MaximumBatchingWindowInSeconds=300, BatchSize=4))
    _put(stack, [{"id": 0}, {"id": 1, "fail_times": 1}, {"id": 2}, {"id": 3}])
    eventually(lambda: stack.batches() == [[0, 1, 2, 3], [1, 2, 3]])


def test_given_up_records_leave_pointers_in_the_queue(launched: Launched, out: Path) -> None:
    destination = {"OnFailure": {"Destination": arn("Rejects")}}
    resources = _resources(out, MaximumRetryAttempts=1, BatchSize=1, DestinationConfig=destination)
    stack = launched({**resources, "Rejects": {"Type": "AWS::SQS::Queue"}})
    _put(stack, [{"id": 1, "poison": True}, {"id": 2}])
    eventually(lambda: 2 in stack.ids())
    message = received(stack, "Rejects")[0]
    record = json.loads(message["Body"])
    assert record["requestContext"]["condition"] == "RetryAttemptsExhausted"
    assert record["requestContext"]["approximateInvokeCount"] == 2
    assert record["KinesisBatchInfo"]["batchSize"] == 1
    assert record["KinesisBatchInfo"]["startSequenceNumber"] == record["KinesisBatchInfo"]["endSequenceNumber"]
    assert "payload" not in record


def test_given_up_records_go_to_s3_with_their_payload(launched: Launched, out: Path) -> None:
    destination = {"OnFailure": {"Destination": arn("Rejects")}}
    resources = _resources(out, MaximumRetryAttempts=0, DestinationConfig=destination)
    stack = launched({**resources, "Rejects": {"Type": "AWS::S3::Bucket"}})
    _put(stack, [{"id": 1, "poison": True}])
    s3, bucket = stack.client("s3"), stack.outputs["Rejects"]
    found = eventually(lambda: s3.list_objects_v2(Bucket=bucket).get("Contents"))
    key = found[0]["Key"]
    assert key.startswith(f"aws/lambda/{stack.outputs['Mapping']}/shardId-000000000000/")
    record = json.loads(s3.get_object(Bucket=bucket, Key=key)["Body"].read())
    assert json.loads(record["payload"]) == stack.notes()[0]["event"]


def test_a_record_that_is_too_old_is_given_up_untried_when_its_turn_comes(launched: Launched, out: Path) -> None:
    destination = {"OnFailure": {"Destination": arn("Rejects")}}
    resources = _resources(out, MaximumRecordAgeInSeconds=60, BatchSize=1, DestinationConfig=destination)
    resources["Mapping"]["Properties"]["MaximumRecordAgeInSeconds"] = 1
    stack = launched({**resources, "Rejects": {"Type": "AWS::SQS::Queue"}})
    _put(stack, [{"id": 1, "poison": True}])
    message = received(stack, "Rejects")[0]
    assert json.loads(message["Body"])["requestContext"]["condition"] == "RecordAgeExceeded"


def test_latest_skips_what_was_there_before_the_mapping(launched: Launched, out: Path) -> None:
    resources = _resources(out)
    late = resources.pop("Mapping")
    stack = launched(resources)
    _put(stack, [{"id": "before"}])
    properties = late["Properties"] | {"StartingPosition": "LATEST"}
    stack.client("lambda").create_event_source_mapping(
        EventSourceArn=f"arn:aws:kinesis:us-east-1:123456789012:stream/{stack.outputs['Stream']}",
        FunctionName=stack.outputs["Function"],
        StartingPosition=properties["StartingPosition"],
    )
    _put(stack, [{"id": "after"}])
    eventually(stack.ids)
    assert stack.ids() == ["after"]


def test_a_filter_that_nobody_would_apply_is_refused(aws: EmbeddedAws, tmp_path: Path, out: Path) -> None:
    with pytest.raises(Exception, match="FilterCriteria is not represented"):
        launch(aws, tmp_path, _resources(out, FilterCriteria={"Filters": [{"Pattern": "{}"}]}))

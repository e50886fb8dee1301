"""How lanes keep, order and give up: the numbers of the design."""

from collections.abc import Callable
from typing import Any

from functions.guard.catching_up import TURNS

Find = Callable[[str], dict[str, Any]]


def one(found: dict[str, Any], word: str) -> dict[str, Any]:
    found_one: dict[str, Any] = next(properties for name, properties in found.items() if word in name)
    return found_one


def test_the_stream_keeps_events_for_a_weekend(of_type: Find) -> None:
    [stream] = of_type("Kinesis::Stream").values()
    assert stream["RetentionPeriodHours"] == 72
    assert stream["StreamModeDetails"] == {"StreamMode": "ON_DEMAND"}


def test_faults_block_the_shard_for_hours_and_then_go_to_the_rejects_bucket(of_type: Find) -> None:
    mapping = one(of_type("Lambda::EventSourceMapping"), "FaultsToTriage")
    rejects = next(name for name in of_type("S3::Bucket") if "Rejects" in name)
    assert mapping["StartingPosition"] == "TRIM_HORIZON"
    assert mapping["BisectBatchOnFunctionError"]
    assert mapping["MaximumRecordAgeInSeconds"] == 12 * 3600
    assert mapping["MaximumRetryAttempts"] >= 10_000
    assert mapping["DestinationConfig"] == {"OnFailure": {"Destination": {"Fn::GetAtt": [rejects, "Arn"]}}}


def test_every_mapping_reports_partial_failures_and_those_of_queues_bound_themselves(of_type: Find) -> None:
    mappings = of_type("Lambda::EventSourceMapping")
    assert len(mappings) == 9
    for name, mapping in mappings.items():
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"], name
        queue = any(word in name for word in ("Overflow", "Decisions", "AwsEvents"))
        assert ("ScalingConfig" in mapping) == queue, name
        assert ("StartingPosition" in mapping) != queue, name


def test_the_archive_gathers_for_a_minute_reads_all_there_is_and_drops_nothing_for_hours(of_type: Find) -> None:
    mappings = {name: it for name, it in of_type("Lambda::EventSourceMapping").items() if "ToArchive" in name}
    assert len(mappings) == 3
    for mapping in mappings.values():
        assert mapping["StartingPosition"] == "TRIM_HORIZON"
        assert mapping["MaximumBatchingWindowInSeconds"] == 60
        assert mapping["BisectBatchOnFunctionError"]
        assert mapping["MaximumRecordAgeInSeconds"] == 12 * 3600
        assert "OnFailure" in mapping["DestinationConfig"]
    assert sorted(mapping["BatchSize"] for mapping in mappings.values()) == [1_000, 1_000, 10_000]


def test_the_archive_is_kept_cheaper_after_a_while(of_type: Find) -> None:
    rules = one(of_type("S3::Bucket"), "Archive")["LifecycleConfiguration"]["Rules"]
    [cheaper] = [rule for rule in rules if "Transitions" in rule]
    assert cheaper["Transitions"] == [{"StorageClass": "STANDARD_IA", "TransitionInDays": 90}]
    assert cheaper["ExpirationInDays"] == 400


def test_a_message_for_coordinate_outlives_ten_minutes_of_a_failing_dependency(of_type: Find) -> None:
    queue = one(of_type("SQS::Queue"), "LanesDecisionsB")
    function = one(of_type("Lambda::Function"), "Coordinate")
    assert queue["FifoQueue"]
    assert "ContentBasedDeduplication" not in queue
    assert (function["Timeout"], queue["VisibilityTimeout"], queue["RedrivePolicy"]["maxReceiveCount"]) == (10, 30, 20)
    dead = function["Environment"]["Variables"]["DECISIONS_DLQ_URL"]["Ref"]
    assert queue["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0] == dead, "what it refuses goes there at once"


def test_no_message_comes_back_while_its_function_still_runs(of_type: Find) -> None:
    functions = of_type("Lambda::Function")
    queues = of_type("SQS::Queue")
    for mapping in of_type("Lambda::EventSourceMapping").values():
        source = mapping["EventSourceArn"]["Fn::GetAtt"][0]
        if source in queues:
            timeout = functions[mapping["FunctionName"]["Fn::GetAtt"][0]]["Timeout"]
            assert queues[source]["VisibilityTimeout"] >= 3 * timeout


def test_a_fifo_queue_dead_letters_into_a_fifo_queue(of_type: Find) -> None:
    queues = of_type("SQS::Queue")
    redriven = [queue for queue in queues.values() if "RedrivePolicy" in queue]
    assert len(redriven) == 3
    for queue in redriven:
        dead = queues[queue["RedrivePolicy"]["deadLetterTargetArn"]["Fn::GetAtt"][0]]
        assert dead.get("FifoQueue") == queue.get("FifoQueue")
        assert dead["MessageRetentionPeriod"] == 14 * 86400


def test_tables_have_the_keys_of_the_plan(of_type: Find) -> None:
    tables = of_type("DynamoDB::Table")
    keys = {
        next(word for word in ("Fleet", "Incidents", "Policies", "Commands") if word in name): [
            it["AttributeName"] for it in table["KeySchema"]
        ]
        for name, table in tables.items()
    }
    assert keys == {
        "Fleet": ["pk", "sk"],
        "Incidents": ["pk", "sk"],
        "Policies": ["name", "sk"],
        "Commands": ["pk", "sk"],
    }
    indexes = one(tables, "Incidents")["GlobalSecondaryIndexes"]
    assert {it["IndexName"]: [key["AttributeName"] for key in it["KeySchema"]] for it in indexes} == {
        "by-status": ["cluster_status", "updated_at"],
        "by-node": ["node_key", "opened_at"],
        "by-job": ["job_key", "opened_at"],
    }
    for name, table in tables.items():
        assert table["BillingMode"] == "PAY_PER_REQUEST"
        # Persons write policies: a field `expires` of theirs must not let DynamoDB delete one, which turns it off.
        own = None if "Policies" in name else {"AttributeName": "expires", "Enabled": True}
        assert table.get("TimeToLiveSpecification") == own, name
        assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
        streams = {"StreamViewType": "NEW_AND_OLD_IMAGES"}
        assert table.get("StreamSpecification") == (streams if "Incidents" in name or "Policies" in name else None)


def test_both_names_of_the_capacity_block_warning_are_taken_in(of_type: Find) -> None:
    pattern = one(of_type("Events::Rule"), "AwsEventsEc2")["EventPattern"]
    assert {"Capacity Block Reservation Expiration Warning", "Capacity Block Expiration Warning"} <= set(
        pattern["detail-type"]
    )


def test_the_report_is_made_on_mondays_unless_nobody_wants_it(of_type: Find) -> None:
    rules, functions = of_type("Events::Rule"), of_type("Lambda::Function")
    weekly = one(rules, "Weekly")
    assert weekly["ScheduleExpression"] == "cron(0 7 ? * MON *)"
    assert [name for name in functions if name.startswith("Report")] == [
        target["Arn"]["Fn::GetAtt"][0] for target in weekly["Targets"]
    ]


def test_the_guard_looks_for_what_its_stream_missed_as_often_as_it_takes_a_day_for_turns(of_type: Find) -> None:
    rule = one(of_type("Events::Rule"), "EveryQuarter")
    assert rule["ScheduleExpression"] == f"rate({24 * 60 // TURNS} minutes)"
    assert [target["Arn"]["Fn::GetAtt"][0][:5] for target in rule["Targets"]] == ["Guard"]
    assert "DeadLetterConfig" in one(of_type("Lambda::Function"), "Guard")


def test_the_sweep_runs_every_minute(of_type: Find) -> None:
    assert one(of_type("Events::Rule"), "EveryMinute")["ScheduleExpression"] == "rate(1 minute)"

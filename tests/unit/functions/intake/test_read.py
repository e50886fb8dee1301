"""Each example payload of AWS in Relight's words. The payloads are copies in tests/data/aws_events."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.intake.notice import Instance, Notice, Reservation, TrainingJob
from functions.intake.read import PARSERS, Reading, read
from policies.contract.vocabulary import Kind, Severity, Source

DATA = Path(__file__).parents[3] / "data" / "aws_events"


def payload(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return loaded


def only(data: dict[str, Any]) -> Notice:
    reading = read(json.dumps(data))
    assert reading.unknown == ""
    [notice] = reading.notices
    return notice


@pytest.mark.parametrize(
    ("name", "subject", "kind", "severity", "source"),
    [
        ("ec2_instance_state_change", "i-abcd1111", Kind.INSTANCE_STATE_CHANGED, Severity.INFO, Source.EC2),
        (
            "ec2_spot_interruption_warning",
            "i-0b662ef9931388ba0",
            Kind.INSTANCE_SPOT_INTERRUPTION,
            Severity.CRITICAL,
            Source.EC2,
        ),
        (
            "ec2_rebalance_recommendation",
            "i-0b662ef9931388ba0",
            Kind.INSTANCE_REBALANCE_RECOMMENDED,
            Severity.WARNING,
            Source.EC2,
        ),
        (
            "health_ec2_scheduled_change",
            "i-12345678",
            Kind.INSTANCE_MAINTENANCE_SCHEDULED,
            Severity.WARNING,
            Source.HEALTH,
        ),
        (
            "asg_terminate_lifecycle_action",
            "i-0633ac2b0d9769723",
            Kind.INSTANCE_LIFECYCLE_HOOK,
            Severity.WARNING,
            Source.AUTOSCALING,
        ),
        (
            "asg_launch_lifecycle_action",
            "i-0a68bf5ef13e21b52",
            Kind.INSTANCE_LIFECYCLE_HOOK,
            Severity.INFO,
            Source.AUTOSCALING,
        ),
        (
            "asg_lifecycle_direct_to_sqs",
            "i-040107f6ba000e5ee",
            Kind.INSTANCE_LIFECYCLE_HOOK,
            Severity.WARNING,
            Source.AUTOSCALING,
        ),
        (
            "hyperpod_cluster_node_health_event",
            "i-12345678abcdefghi",
            Kind.INSTANCE_STATUS_IMPAIRED,
            Severity.CRITICAL,
            Source.HYPERPOD,
        ),
        (
            "capacity_reservation_instance_interruption",
            "i-0b662ef9931388ba0",
            Kind.CAPACITY_EXPIRING,
            Severity.CRITICAL,
            Source.EC2,
        ),
    ],
)
def test_an_example_about_an_instance(name: str, subject: str, kind: Kind, severity: Severity, source: Source) -> None:
    notice = only(payload(name))
    assert (notice.subject, notice.kind, notice.severity, notice.source) == (Instance(subject), kind, severity, source)
    assert notice.message


@pytest.mark.parametrize(
    ("state", "severity"),
    [
        ("pending", Severity.INFO),
        ("running", Severity.INFO),
        ("stopping", Severity.CRITICAL),
        ("stopped", Severity.CRITICAL),
        ("shutting-down", Severity.CRITICAL),
        ("terminated", Severity.CRITICAL),
    ],
)
def test_an_instance_that_leaves_is_critical(state: str, severity: Severity) -> None:
    data = payload("ec2_instance_state_change")
    data["detail"]["state"] = state
    notice = only(data)
    assert (notice.severity, notice.attributes) == (severity, {"state": state})
    assert notice.observed_at == datetime(2015, 11, 11, 21, 29, 54, tzinfo=UTC)


@pytest.mark.parametrize("name", ["Capacity Block Reservation Expiration Warning", "Capacity Block Expiration Warning"])
def test_both_names_of_the_capacity_block_warning_are_known(name: str) -> None:
    notice = only({**payload("capacity_block_expiration_warning"), "detail-type": name})
    assert notice.subject == Reservation("cr-02168da1478b509e0")
    assert notice.attributes["ends_at"] == "2024-05-01T11:00:00.000000Z"


def health(**changes: object) -> dict[str, Any]:
    data = payload("health_ec2_scheduled_change")
    return {**data, "detail": {**data["detail"], **changes}}


def test_health_speaks_rfc_1123() -> None:
    notice = only(health())
    assert notice.attributes["starts_at"] == "2016-06-05T15:10:09.000000Z"


@pytest.mark.parametrize(
    "code", ["AWS_EC2_PERSISTENT_INSTANCE_RETIREMENT_SCHEDULED", "AWS_EC2_INSTANCE_STOP_SCHEDULED"]
)
def test_a_host_that_is_given_up_retires_its_instances(code: str) -> None:
    notice = only(health(eventTypeCode=code))
    assert (notice.kind, notice.severity) == (Kind.INSTANCE_RETIREMENT_SCHEDULED, Severity.ERROR)


def test_health_about_many_instances_is_a_notice_each() -> None:
    entities = [
        {"entityValue": value} for value in ("i-11111111", "vol-22222222", "arn:aws:ec2:r:1:instance/i-33333333")
    ]
    reading = read(json.dumps(health(affectedEntities=entities)))
    assert [notice.subject for notice in reading.notices] == [Instance("i-11111111"), Instance("i-33333333")]


def test_health_told_again_under_another_event_id_is_the_same_fact() -> None:
    again = {**health(), "id": "another"}
    assert only(again).key == only(health()).key
    assert only(health(startTime="Sun, 06 Jun 2016 15:10:09 GMT")).key != only(health()).key


@pytest.mark.parametrize(
    "changes", [{"eventTypeCategory": "issue"}, {"eventTypeCategory": "accountNotification"}, {"statusCode": "closed"}]
)
def test_other_health_events_say_nothing_about_a_node(changes: dict[str, str]) -> None:
    assert read(json.dumps(health(**changes))) == Reading()


def test_a_lifecycle_action_is_the_same_straight_and_in_an_sns_wrapper() -> None:
    direct = payload("asg_lifecycle_direct_to_sqs")
    wrapped = {"Type": "Notification", "TopicArn": "arn:aws:sns:r:1:t", "Message": json.dumps(direct)}
    assert only(wrapped) == only(direct)


def test_a_test_notification_is_known_and_says_nothing() -> None:
    assert read(json.dumps(payload("asg_lifecycle_test_notification"))) == Reading()


def job(**changes: object) -> dict[str, Any]:
    data = payload("sagemaker_training_job_state_change")
    return {**data, "detail": {**data["detail"], **changes}}


@pytest.mark.parametrize("status", ["InProgress", "Completed", "Stopping", "Stopped"])
def test_a_training_job_that_did_not_fail_says_nothing(status: str) -> None:
    assert read(json.dumps(job(TrainingJobStatus=status))) == Reading()


@pytest.mark.parametrize(
    "tags", [{"relight:cluster": "jobs"}, [{"Key": "other", "Value": "x"}, {"Key": "relight:cluster", "Value": "jobs"}]]
)
def test_a_failed_training_job_is_named_with_its_cluster_and_reason(tags: object) -> None:
    reason = "InternalServerError: We encountered an internal error. Please try again."
    notice = only(job(TrainingJobStatus="Failed", FailureReason=reason, Tags=tags))
    assert notice.subject == TrainingJob("89c96cc8-dded-4739-afcc-6f1dc936701d", "jobs")
    assert (notice.kind, notice.severity, notice.message) == (Kind.JOB_FAILED, Severity.CRITICAL, reason)
    assert notice.attributes["failure"] == "InternalServerError"


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (
            "InternalServerError: We encountered an internal error. Please try again.",
            {"failure": "InternalServerError", "cause": "platform"},
        ),
        (
            "CapacityError: Unable to provision requested ML compute capacity.",
            {"failure": "CapacityError", "cause": "capacity"},
        ),
        (
            'AlgorithmError: ExecuteUserScriptError:\nExitCode 1\nErrorMessage "ValueError: loss is nan", exit code: 1',
            {"failure": "AlgorithmError", "cause": "program", "exit_code": 1},
        ),
        (
            'AlgorithmError: ErrorMessage "CUDA error: uncorrectable ECC error encountered", exit code: 1',
            {"failure": "AlgorithmError", "cause": "hardware", "exit_code": 1},
        ),
        ("ClientError: Data download failed: NoSuchKey (404)", {"failure": "ClientError", "cause": "program"}),
        ("AlgorithmError: RuntimeError: simulated hardware failure", {"failure": "AlgorithmError", "cause": "program"}),
        ("Something new happened", {"failure": "Something new happened", "cause": "unknown"}),
        ("", {"failure": "", "cause": "unknown"}),
    ],
)
def test_whose_fault_a_failure_is_is_read_from_its_reason(reason: str, told: dict[str, object]) -> None:
    notice = only(job(TrainingJobStatus="Failed", SecondaryStatus="Failed", FailureReason=reason))
    assert notice.attributes == {**told, "secondary_status": "Failed"}


def test_several_events_for_one_failure_are_one_fact() -> None:
    first, second = (only({**job(TrainingJobStatus="Failed"), "id": name}) for name in ("one", "two"))
    assert first.key == second.key


def test_a_hyperpod_node_that_is_well_again_has_recovered() -> None:
    data = payload("hyperpod_cluster_node_health_event")
    assert only(data).attributes["fault"] == "NvidiaErrorTerminate"
    data["detail"]["HealthSummary"] = {"HealthStatus": "Healthy", "HealthStatusReason": "Node is healthy."}
    assert (only(data).kind, only(data).severity) == (Kind.NODE_RECOVERED, Severity.INFO)


@pytest.mark.parametrize(
    "name",
    [
        "hyperpod_cluster_event_instance_create_failed",
        "hyperpod_cluster_event_lifecycle_script",
        "hyperpod_cluster_state_change",
    ],
)
def test_a_hyperpod_clusters_own_progress_is_known_and_says_nothing(name: str) -> None:
    assert read(json.dumps(payload(name))) == Reading()


@pytest.mark.parametrize(
    "body",
    [
        "",
        "not json",
        "[]",
        "null",
        '{"detail-type": "EC2 Instance State-change Notification"}',
        '{"Type": "Notification", "Message": "not json"}',
        "[" * 100_000,
        json.dumps({**payload("ec2_instance_state_change"), "detail-type": "A New Kind Of Event"}),
        json.dumps(
            {**payload("ec2_instance_state_change"), "detail": {"instance-id": "i-abcd1111", "state": "melting"}}
        ),
        json.dumps(health(startTime="tomorrow")),
    ],
)
def test_what_is_not_known_says_why_and_never_raises(body: str) -> None:
    reading = read(body)
    assert reading.notices == ()
    assert reading.unknown


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=20), inner, max_size=3),
    max_leaves=10,
)


@given(kind=st.sampled_from(sorted(PARSERS)), detail=st.dictionaries(st.text(max_size=20), JSON, max_size=4))
def test_no_detail_whatever_its_shape_stops_the_consumer(kind: str, detail: dict[str, Any]) -> None:
    reading = read(json.dumps({**payload("ec2_instance_state_change"), "detail-type": kind, "detail": detail}))
    assert isinstance(reading, Reading)


@given(body=st.text() | JSON.map(json.dumps))
def test_no_body_stops_the_consumer(body: str) -> None:
    assert isinstance(read(body), Reading)

"""What moto lacks and the fleet drives: instances, groups, status checks, consoles, EKS, training jobs, redrives."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local.aws.server import EmbeddedAws
from tests.integration.local.stacks import Resources, Stack, arn, eventually

Launched = Callable[[Resources], Stack]
Slowly = Callable[[Callable[[int], None]], None]
_QUEUE = {"Type": "AWS::SQS::Queue", "Properties": {}}


@pytest.fixture
def slowly(aws: EmbeddedAws) -> Iterator[Slowly]:
    """Tells a story with instances that take half a second to boot and to end, or long enough for this machine.

    What was over before anybody looked is told again, with instances that take longer; each story has its number.
    """

    def tell(story: Callable[[int], None]) -> None:
        for nominal in (50, 500):
            aws.set_instance_delays(boot=nominal, shutdown=nominal)
            with suppress(AssertionError):
                return story(nominal)
        aws.set_instance_delays(boot=3000, shutdown=3000)
        return story(3000)

    yield tell
    aws.set_instance_delays(boot=0, shutdown=0)


def _watcher(source: str) -> dict[str, Any]:
    target = {"Id": "1", "Arn": arn("Queue")}
    rule = {"Type": "AWS::Events::Rule", "Properties": {"EventPattern": {"source": [source]}, "Targets": [target]}}
    return {"Queue": _QUEUE, "Rule": rule}


def _details(
    stack: Stack, wanted: int, mine: Callable[[dict[str, Any]], bool] = lambda _: True
) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    def look() -> bool:
        url = stack.outputs["Queue"]
        answer = stack.client("sqs").receive_message(QueueUrl=url, MaxNumberOfMessages=10)
        for message in answer.get("Messages", []):
            detail = json.loads(message["Body"])["detail"]
            found.extend([detail] if mine(detail) else [])
            stack.client("sqs").delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return len(found) >= wanted

    eventually(look)
    return found


def _group(aws: EmbeddedAws, name: str, size: int = 2, zones: str = "us-east-1b") -> list[dict[str, Any]]:
    ec2 = aws.client("ec2")
    wanted = [{"Name": "availability-zone", "Values": zones.split(",")}]
    subnets = [subnet["SubnetId"] for subnet in ec2.describe_subnets(Filters=wanted)["Subnets"]]
    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    data = {"ImageId": image, "InstanceType": "p5.48xlarge"}
    ec2.create_launch_template(LaunchTemplateName=name, LaunchTemplateData=data)
    aws.client("autoscaling").create_auto_scaling_group(
        AutoScalingGroupName=name,
        LaunchTemplate={"LaunchTemplateName": name},
        MinSize=0,
        MaxSize=size + 2,
        DesiredCapacity=size,
        VPCZoneIdentifier=",".join(subnets),
        Tags=[{"Key": "relight:cluster", "Value": name, "PropagateAtLaunch": True, "ResourceId": name}],
    )
    return _members(aws, name)


def _members(aws: EmbeddedAws, name: str) -> list[dict[str, Any]]:
    groups = aws.client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[name])["AutoScalingGroups"]
    return sorted(groups[0]["Instances"], key=lambda member: str(member["InstanceId"]))


def _state(aws: EmbeddedAws, instance_id: str) -> str:
    found = aws.client("ec2").describe_instances(InstanceIds=[instance_id])["Reservations"][0]["Instances"][0]
    return str(found["State"]["Name"])


def _terminate(aws: EmbeddedAws, instance_id: str) -> None:
    aws.client("autoscaling").terminate_instance_in_auto_scaling_group(
        InstanceId=instance_id, ShouldDecrementDesiredCapacity=False
    )


def test_an_instance_passes_through_its_states_and_eventbridge_hears_each(
    launched: Launched, aws: EmbeddedAws, slowly: Slowly
) -> None:
    stack = launched(_watcher("aws.ec2"))
    image = aws.client("ec2").describe_images(Owners=["amazon"])["Images"][0]["ImageId"]

    def story(_number: int) -> None:
        instance = aws.client("ec2").run_instances(ImageId=image, MinCount=1, MaxCount=1)["Instances"][0]["InstanceId"]
        assert _state(aws, instance) == "pending"
        eventually(lambda: _state(aws, instance) == "running")
        aws.client("ec2").terminate_instances(InstanceIds=[instance])
        assert _state(aws, instance) == "shutting-down"
        eventually(lambda: _state(aws, instance) == "terminated")
        told = _details(stack, 4, lambda detail: bool(detail["instance-id"] == instance))
        assert sorted(each["state"] for each in told) == ["pending", "running", "shutting-down", "terminated"]

    slowly(story)


def test_a_group_replaces_a_terminated_member_in_its_zone(aws: EmbeddedAws, slowly: Slowly) -> None:
    def story(number: int) -> None:
        name = f"zones-{number}"
        old = _group(aws, name, zones="us-east-1a,us-east-1b,us-east-1c")[0]
        eventually(lambda: {member["LifecycleState"] for member in _members(aws, name)} == {"InService"})
        before = {member["InstanceId"] for member in _members(aws, name)}
        _terminate(aws, old["InstanceId"])
        now = {member["InstanceId"]: member for member in _members(aws, name)}
        (new,) = set(now) - before
        assert now[new]["LifecycleState"] == "Pending"
        assert now[old["InstanceId"]]["LifecycleState"] == "Terminating"
        assert now[new]["AvailabilityZone"] == old["AvailabilityZone"]
        tags = aws.client("ec2").describe_tags(Filters=[{"Name": "resource-id", "Values": [new]}])["Tags"]
        assert ("relight:cluster", name) in {(tag["Key"], tag["Value"]) for tag in tags}
        eventually(lambda: _state(aws, old["InstanceId"]) == "terminated")
        eventually(lambda: _state(aws, new) == "running")

    slowly(story)


def test_terminating_twice_is_refused_and_replaces_once(aws: EmbeddedAws, slowly: Slowly) -> None:
    def story(number: int) -> None:
        name = f"twice-{number}"
        old = _group(aws, name)[0]["InstanceId"]
        _terminate(aws, old)
        members = _members(aws, name)
        assert old in {member["InstanceId"] for member in members}, "it is gone already"
        with pytest.raises(ClientError, match="already terminating"):
            _terminate(aws, old)
        living = [member for member in _members(aws, name) if member["LifecycleState"] != "Terminating"]
        assert len(living) == 2

    slowly(story)


def test_an_instance_ended_behind_the_groups_back_is_replaced_at_the_next_health_check(aws: EmbeddedAws) -> None:
    before = {member["InstanceId"] for member in _group(aws, "fenced")}
    aws.client("ec2").terminate_instances(InstanceIds=[min(before)])
    eventually(lambda: len({member["InstanceId"] for member in _members(aws, "fenced")} - before) == 1)
    assert len(_members(aws, "fenced")) == 2


def test_an_unknown_instance_is_no_member(aws: EmbeddedAws) -> None:
    with pytest.raises(ClientError, match="No managed instance found"):
        _terminate(aws, "i-00000000000000000")


def test_status_checks_and_the_console_are_what_the_fleet_says(aws: EmbeddedAws) -> None:
    instance = _group(aws, "health", size=1)[0]["InstanceId"]
    ec2 = aws.client("ec2")

    def checks() -> tuple[str, str]:
        status = ec2.describe_instance_status(InstanceIds=[instance])["InstanceStatuses"][0]
        return status["InstanceStatus"]["Status"], status["SystemStatus"]["Status"]

    assert checks() == ("ok", "ok")
    aws.set_impaired(instance, system=True)
    assert checks() == ("ok", "impaired")
    aws.set_impaired(instance)
    assert checks() == ("ok", "ok")
    assert ec2.get_console_output(InstanceId=instance)["Output"] == ""
    aws.set_console(instance, "NVRM: Xid 79\n")
    assert ec2.get_console_output(InstanceId=instance)["Output"] == "NVRM: Xid 79\n"


def test_a_clusters_endpoint_can_be_on_this_machine(aws: EmbeddedAws) -> None:
    role = "arn:aws:iam::123456789012:role/eks"
    aws.client("eks").create_cluster(name="training", roleArn=role, resourcesVpcConfig={})
    aws.set_eks_endpoint("training", "http://127.0.0.1:8443")
    assert aws.client("eks").describe_cluster(name="training")["cluster"]["endpoint"] == "http://127.0.0.1:8443"


def _train(aws: EmbeddedAws, name: str) -> None:
    aws.client("sagemaker").create_training_job(
        TrainingJobName=name,
        AlgorithmSpecification={"TrainingImage": "image", "TrainingInputMode": "File"},
        RoleArn="arn:aws:iam::123456789012:role/train",
        OutputDataConfig={"S3OutputPath": "s3://bucket/out"},
        ResourceConfig={"InstanceType": "ml.p5.48xlarge", "InstanceCount": 2, "VolumeSizeInGB": 1},
        StoppingCondition={"MaxRuntimeInSeconds": 3600},
        CheckpointConfig={"S3Uri": "s3://bucket/checkpoints"},
        Environment={"NCCL_DEBUG": "INFO"},
        RetryStrategy={"MaximumRetryAttempts": 2},
        Tags=[{"Key": "relight:cluster", "Value": "training"}],
    )


def test_a_reservation_has_as_many_free_slots_as_nothing_runs_in(aws: EmbeddedAws) -> None:
    inside, other = (each["InstanceId"] for each in _group(aws, "reserved"))
    aws.set_capacity_reservations([{"id": "cr-1", "slots": 2, "cluster": "reserved", "instances": [inside, other]}])
    ec2 = aws.client("ec2")

    def free() -> int:
        active = [{"Name": "state", "Values": ["active"]}]
        (found,) = ec2.describe_capacity_reservations(Filters=active)["CapacityReservations"]
        return int(found["AvailableInstanceCount"])

    assert free() == 0
    wanted = [{"Name": "capacity-reservation-id", "Values": ["cr-1"]}]
    found = ec2.describe_instances(Filters=wanted)["Reservations"]
    assert {each["InstanceId"] for one in found for each in one["Instances"]} == {inside, other}
    ec2.terminate_instances(InstanceIds=[inside])
    eventually(lambda: free() == 1)
    aws.set_capacity_reservations([])


def _status(aws: EmbeddedAws, name: str) -> str:
    return str(aws.client("sagemaker").describe_training_job(TrainingJobName=name)["TrainingJobStatus"])


def test_a_training_job_runs_stops_and_tells(launched: Launched, aws: EmbeddedAws) -> None:
    stack = launched(_watcher("aws.sagemaker"))
    _train(aws, "run-r01")
    assert _status(aws, "run-r01") == "InProgress"
    with pytest.raises(ClientError, match="ResourceInUse"):
        _train(aws, "run-r01")
    aws.client("sagemaker").stop_training_job(TrainingJobName="run-r01")
    assert _status(aws, "run-r01") in {"Stopping", "Stopped"}  # that it was stopping, EventBridge tells
    eventually(lambda: _status(aws, "run-r01") == "Stopped")
    told = [detail["TrainingJobStatus"] for detail in _details(stack, 3)]
    assert sorted(told) == ["InProgress", "Stopped", "Stopping"]
    with pytest.raises(ClientError, match="is in status Stopped"):
        aws.client("sagemaker").stop_training_job(TrainingJobName="run-r01")


def test_a_training_job_fails_when_the_fleet_says_so(aws: EmbeddedAws) -> None:
    _train(aws, "run-r02")
    aws.set_training_job("run-r02", "Failed", reason="InternalServerError: hardware")
    found = aws.client("sagemaker").describe_training_job(TrainingJobName="run-r02")
    assert (found["TrainingJobStatus"], found["FailureReason"]) == ("Failed", "InternalServerError: hardware")
    assert found["CheckpointConfig"]["S3Uri"] == "s3://bucket/checkpoints"
    assert (found["Environment"], found["RetryStrategy"]) == ({"NCCL_DEBUG": "INFO"}, {"MaximumRetryAttempts": 2})


def test_a_training_job_that_is_being_repaired_has_not_failed(aws: EmbeddedAws) -> None:
    _train(aws, "run-r03")
    repairing = "Repairing training cluster due to hardware failure"
    aws.set_training_job("run-r03", "InProgress", secondary="Starting", reason=repairing)
    found = aws.client("sagemaker").describe_training_job(TrainingJobName="run-r03")
    assert (found["TrainingJobStatus"], found.get("FailureReason")) == ("InProgress", None)
    assert found["SecondaryStatusTransitions"][-1]["StatusMessage"] == repairing


def test_a_dead_letter_queue_is_redriven_to_where_its_messages_came_from(launched: Launched) -> None:
    policy = {"deadLetterTargetArn": arn("Dead"), "maxReceiveCount": 1}
    stack = launched(
        {"Dead": _QUEUE, "Queue": {**_QUEUE, "Properties": {"VisibilityTimeout": 0, "RedrivePolicy": policy}}}
    )
    sqs, url = stack.client("sqs"), stack.outputs["Queue"]
    sqs.send_message(QueueUrl=url, MessageBody="poison")
    sqs.receive_message(QueueUrl=url)
    assert "Messages" not in sqs.receive_message(QueueUrl=url)
    dead = sqs.get_queue_attributes(QueueUrl=stack.outputs["Dead"], AttributeNames=["QueueArn"])["Attributes"]
    sqs.start_message_move_task(SourceArn=dead["QueueArn"])
    (task,) = sqs.list_message_move_tasks(SourceArn=dead["QueueArn"])["Results"]
    assert (task["Status"], task["ApproximateNumberOfMessagesMoved"]) == ("COMPLETED", 1)
    again = sqs.receive_message(QueueUrl=url, MessageSystemAttributeNames=["All"])["Messages"][0]
    assert again["Body"] == "poison"
    assert again["Attributes"]["ApproximateReceiveCount"] == "1"


def test_a_queue_that_is_nobodys_dead_letter_queue_cannot_be_redriven(launched: Launched) -> None:
    stack = launched({"Queue": _QUEUE})
    own = stack.client("sqs").get_queue_attributes(QueueUrl=stack.outputs["Queue"], AttributeNames=["QueueArn"])
    with pytest.raises(ClientError, match="must be configured as a Dead Letter Queue"):
        stack.client("sqs").start_message_move_task(SourceArn=own["Attributes"]["QueueArn"])

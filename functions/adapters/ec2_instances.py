"""Instances on EC2 and Auto Scaling.

It must not decide what is terminated; it only makes sure that what has ended already is not ended again.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from functions.adapters.aws import calling, error_code
from functions.ports.instances import Checks, Group, Instance, Membership

if TYPE_CHECKING:
    from types_boto3_autoscaling import AutoScalingClient
    from types_boto3_autoscaling.type_defs import AutoScalingGroupTypeDef
    from types_boto3_ec2 import EC2Client
    from types_boto3_ec2.type_defs import InstanceTypeDef

# StateTransitionReason: "User initiated (2026-03-01 12:00:00 GMT)".
_MOMENT = re.compile(r"\((\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?:GMT|UTC)\)")
_MOST_FAILURES = 3
_PAGE = 100


class Ec2Instances:
    """See the port."""

    def __init__(self, ec2: "EC2Client", autoscaling: "AutoScalingClient") -> None:
        """Keep the clients."""
        self._ec2 = ec2
        self._autoscaling = autoscaling

    def describe(self, instance_ids: Sequence[str]) -> Mapping[str, Instance]:
        """See the port. A filter, not InstanceIds: one unknown id would fail the whole call."""
        found: dict[str, Instance] = {}
        for start in range(0, len(instance_ids), _PAGE):
            page = [each for each in instance_ids[start : start + _PAGE] if each]
            if page:
                with calling("describing instances"):
                    answers = self._ec2.get_paginator("describe_instances").paginate(
                        Filters=[{"Name": "instance-id", "Values": page}]
                    )
                    read = [
                        _instance(each) for one in answers for kept in one["Reservations"] for each in kept["Instances"]
                    ]
                found.update({each.id: each for each in read})
        return found

    def checks(self, instance_id: str) -> Checks | None:
        """See the port."""
        with calling(f"reading the status of {instance_id}"):
            try:
                statuses = self._ec2.describe_instance_status(InstanceIds=[instance_id])["InstanceStatuses"]
            except ClientError as error:
                if error_code(error) == "InvalidInstanceID.NotFound":
                    return None
                raise
        for each in statuses:
            return Checks(str(each["InstanceStatus"]["Status"]), str(each["SystemStatus"]["Status"]))
        return None

    def membership(self, instance_id: str) -> Membership | None:
        """See the port."""
        with calling(f"finding the group of {instance_id}"):
            answer = self._autoscaling.describe_auto_scaling_instances(InstanceIds=[instance_id])
        for each in answer["AutoScalingInstances"]:
            return Membership(each["AutoScalingGroupName"], each["LifecycleState"])
        return None

    def group(self, name: str) -> Group | None:
        """See the port."""
        with calling(f"reading Auto Scaling group {name}"):
            answer = self._autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=[name])
        return next(map(_group, answer["AutoScalingGroups"]), None)

    def replace(self, instance_id: str) -> None:
        """See the port."""
        if self._has_left(instance_id):
            return
        with calling(f"replacing {instance_id}"):
            try:
                self._autoscaling.terminate_instance_in_auto_scaling_group(
                    InstanceId=instance_id, ShouldDecrementDesiredCapacity=False
                )
            except ClientError as error:
                # "Instance Id not found", "already terminating": another call was faster.
                if error_code(error) != "ValidationError" or not self._has_left(instance_id):
                    raise

    def _has_left(self, instance_id: str) -> bool:
        membership = self.membership(instance_id)
        return membership is None or membership.leaving

    def stop(self, instance_id: str) -> None:
        """See the port."""
        with calling(f"stopping {instance_id}"):
            try:
                self._ec2.stop_instances(InstanceIds=[instance_id], Force=True)
            except ClientError as error:
                if error_code(error) not in {"IncorrectInstanceState", "InvalidInstanceID.NotFound"}:
                    raise

    def failed_launches(self, group: str, since: datetime) -> Sequence[str]:
        """See the port. Auto Scaling answers newest first."""
        with calling(f"reading the activities of {group}"):
            answer = self._autoscaling.describe_scaling_activities(AutoScalingGroupName=group, MaxRecords=20)
        failed = [
            each.get("StatusMessage", "no reason given")
            for each in answer["Activities"]
            if each["StatusCode"] == "Failed" and each["StartTime"] >= since
        ]
        return failed[:_MOST_FAILURES]

    def console(self, instance_id: str) -> str:
        """See the port. Not the live one (Latest): that needs a Nitro instance that still runs."""
        with calling(f"reading the console of {instance_id}"):
            try:
                return self._ec2.get_console_output(InstanceId=instance_id).get("Output", "")
            except ClientError as error:
                if error_code(error) == "InvalidInstanceID.NotFound":
                    return ""
                raise


def _group(described: "AutoScalingGroupTypeDef") -> Group:
    staying = [
        each["InstanceId"]
        for each in described["Instances"]
        if not Membership(described["AutoScalingGroupName"], each["LifecycleState"]).leaving
    ]
    # A process that somebody suspends stays so until they resume it; Status is there only while the group is deleted.
    stopped = [
        f"its process Launch is suspended ({each.get('SuspensionReason', 'no reason given')}); resume it"
        for each in described.get("SuspendedProcesses", ())
        if each.get("ProcessName") == "Launch"
    ]
    if described.get("Status"):
        stopped.append(described["Status"])
    return Group(tuple(staying), described["DesiredCapacity"], "; ".join(stopped))


def _instance(described: "InstanceTypeDef") -> Instance:
    moment = _MOMENT.search(described.get("StateTransitionReason", ""))
    return Instance(
        id=described["InstanceId"],
        state=described["State"]["Name"],
        launched_at=described["LaunchTime"].astimezone(UTC),
        changed_at=datetime.strptime(moment[1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC) if moment else None,
        tags={tag["Key"]: tag["Value"] for tag in described.get("Tags", ())},
        description=described,
    )

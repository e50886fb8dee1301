from datetime import UTC, datetime

import pytest

from local.aws.recorder_types import RecordedCall
from local.demo.acts import Acts, observe
from local.kubernetes.audit import Entry
from local.kubernetes.routes import target_of

JOB = target_of("/apis/kubeflow.org/v1/namespaces/training/pytorchjobs/llama")
NODE = target_of("/api/v1/nodes/n")
NOW = datetime(2026, 1, 31, tzinfo=UTC)


def patch(body: object, code: int = 200, verb: str = "patch") -> Entry:
    return Entry(NOW, "aws:KubernetesRole", verb, JOB, code, body)


def suspend(value: bool) -> dict[str, object]:
    return {"spec": {"runPolicy": {"suspend": value}}}


def test_each_act_on_the_world_is_counted() -> None:
    calls = [
        RecordedCall("InstancesRole", "autoscaling:TerminateInstanceInAutoScalingGroup", ("*",), 1),
        RecordedCall("InstancesRole", "ec2:DescribeInstances", ("*",), 40),
        RecordedCall("InstancesRole", "ec2:TerminateInstances", ("arn",), 2),
    ]
    audit = [
        patch(suspend(True)),
        patch([{"op": "replace", "path": "/spec/runPolicy/suspend", "value": False}]),
        patch({"metadata": {"annotations": {"a": "b"}}}),
        Entry(NOW, "x", "patch", NODE, 200, suspend(True)),
    ]
    assert observe(calls, audit) == Acts(endings=3, suspensions=1, resumptions=1)


@pytest.mark.parametrize("entry", [patch(suspend(True), code=409), patch(suspend(True), verb="create"), patch(None)])
def test_what_was_refused_or_asked_nothing_is_no_act(entry: Entry) -> None:
    assert observe([], [entry]) == Acts(0, 0, 0)


def test_only_what_is_beyond_the_allowed_is_repeated() -> None:
    once = Acts(1, 1, 1)
    assert Acts(1, 1, 1).beyond(once) == 0
    assert Acts(0, 0, 0).beyond(once) == 0
    assert Acts(3, 1, 2).beyond(once) == 3

"""An executor's worker is killed when the world has changed and nobody has heard of it: the retry looks first."""

from collections.abc import Callable

import pytest

from local.demo.cluster import LocalCluster
from local.kubernetes.api import Request
from tests.tools.stories import Story, allow_many_replacements, role_of


@pytest.fixture(scope="module", autouse=True)
def many_replacements(cluster: LocalCluster) -> None:
    allow_many_replacements(cluster)


def test_the_instance_is_given_up(cluster: LocalCluster, story: Story) -> None:
    role = role_of(cluster, "instances")
    cluster.aws.kill_caller_next("autoscaling", "TerminateInstanceInAutoScalingGroup", "after", principal=role)
    story.ends_well(story.break_gpu())


def test_the_job_is_suspended(cluster: LocalCluster, story: Story) -> None:
    cluster.kubernetes.kills.add(asks_to_suspend(wanted=True))
    story.ends_well(story.break_gpu())


def test_the_job_is_resumed(cluster: LocalCluster, story: Story) -> None:
    cluster.kubernetes.kills.add(asks_to_suspend(wanted=False))
    story.ends_well(story.break_gpu())


def test_the_pointer_is_written(cluster: LocalCluster, story: Story) -> None:
    role = role_of(cluster, "kubernetes")
    cluster.aws.kill_caller_next("s3", "PutObject", "after", principal=role)
    story.ends_well(story.break_gpu())


def asks_to_suspend(*, wanted: bool) -> Callable[[Request], bool]:
    """Whether a request is the patch that suspends (or lets go) a job."""

    def asks(request: Request) -> bool:
        body = request.json() if request.method == "PATCH" and "/pytorchjobs/" in request.path else {}
        return bool(body) and body.get("spec", {}).get("runPolicy", {}).get("suspend") is wanted

    return asks

"""DynamoDB refuses triage and coordinate for longer than the SDK is patient: nothing is rejected, all ends well."""

import pytest

from local.demo.cluster import LocalCluster
from tests.tools.stories import Story, role_of, shorten_redelivery

THROTTLED, BROKEN = "ProvisionedThroughputExceededException", "InternalServerError"
# Each is more than the SDK's own tries (triage 4, coordinate 3), so that invocations fail and come again.
TIMES = {"triage": 9, "coordinate": 4}


@pytest.mark.parametrize("error", [THROTTLED, BROKEN])
def test_the_story_still_ends_well(cluster: LocalCluster, story: Story, error: str) -> None:
    shorten_redelivery(cluster)
    for function, times in TIMES.items():
        for operation in ("BatchGetItem", "PutItem"):
            cluster.aws.fail_next("dynamodb", operation, error, times, principal=role_of(cluster, function))
    story.ends_well(story.break_gpu())

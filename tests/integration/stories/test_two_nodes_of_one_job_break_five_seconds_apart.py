"""Two nodes, one run: it is stopped once, both nodes are replaced, and it goes on once."""

import threading

from local.demo.cluster import LocalCluster
from tests.tools.stories import Story


def test_one_suspension_two_replacements_one_resume(cluster: LocalCluster, story: Story) -> None:
    first = story.break_gpu(place=1)
    threading.Event().wait(5.0 * cluster.time_scale)
    second = story.break_gpu(place=1)
    assert first.instance_id != second.instance_id
    incidents = story.ends_well(first, second)
    assert len({incident.job.id for incident in incidents if incident.job}) == 1
    assert [incident.outcome for incident in incidents] == ["replaced", "replaced"]

"""Two nodes of one job break five seconds apart, on the deployed template: each is replaced, the job resumes once."""

from pathlib import Path

from local.demo import acts, arrivals
from local.demo.acts import Acts
from local.demo.cluster import LocalCluster
from policies.contract.rungs import Rung

APART_SECONDS = 5.0


def test_one_suspension_two_replacements_one_resume(tmp_path: Path) -> None:
    with LocalCluster(tmp_path) as cluster:
        cluster.wait_for_checkpoints(2)
        cluster.wait_for_save_under_way()
        first = cluster.break_gpu(2)
        cluster.pause(APART_SECONDS)
        second = cluster.break_gpu(5)
        incidents = cluster.wait_closed(90, count=2)
        complete = max(step for step, at in cluster.training.record.first_saved.items() if at < first.at)

        assert {incident.node.instance_id for incident in incidents} == {first.instance_id, second.instance_id}
        assert {incident.outcome for incident in incidents} == {"replaced"}
        successors = {incident.facts["new_instance"] for incident in incidents}
        assert len(successors) == 2
        assert all(cluster.room.get(instance).is_on for instance in successors)
        assert all(cluster.room.get(fault.instance_id).is_gone for fault in (first, second))
        assert [Rung.RESUME_JOB in incident.done for incident in incidents].count(True) == 1
        assert [step for step, _ in cluster.training.record.starts] == [0, complete]
        done = acts.observe(cluster.aws.recorded_calls(), cluster.kubernetes.audit.entries())
        assert done == Acts(endings=2, suspensions=1, resumptions=1)
        assert arrivals.count(cluster.aws, cluster.outputs["FaultsStream"], cluster.room).lost == 0

"""The agent is dead when the GPU breaks, the driver repeats itself, and old records are sent again afterwards."""

from pathlib import Path

from local.demo import acts, arrivals
from local.demo.acts import Acts
from local.demo.cluster import LocalCluster
from policies.contract.envelope import CANARY_NODE, parse_envelope

ONCE = Acts(endings=1, suspensions=1, resumptions=1)


def test_one_replacement_one_resume_and_no_lost_event(tmp_path: Path) -> None:
    with LocalCluster(tmp_path) as cluster:
        cluster.wait_for_checkpoints(2)
        cluster.wait_for_save_under_way()
        machine = list(cluster.room)[4]
        cluster.fleet.kill_agent(machine)
        fault = cluster.break_gpu(4)
        cluster.pause(5)
        cluster.fleet.start_agent(machine)
        cluster.wait_for(cluster.incidents, 30, "no incident was opened")
        for _ in range(3):
            machine.kernel_log.xid(fault.gpu, fault.xid)
        (incident,) = cluster.wait_closed(90)
        assert incident.outcome == "replaced"

        send_again(cluster)
        cluster.pause(60)  # two sweeps and more
        assert [one.id for one in cluster.incidents()] == [incident.id]
        assert acts.observe(cluster.aws.recorded_calls(), cluster.kubernetes.audit.entries()) == ONCE
        assert len(cluster.room) == cluster.site.size + 1
        assert len(cluster.training.record.starts) == 2
        assert arrivals.count(cluster.aws, cluster.outputs["FaultsStream"], cluster.room).lost == 0


def send_again(cluster: LocalCluster) -> None:
    """Put every record with events into the stream a second time, as a retry whose first answer was lost."""
    stream = cluster.outputs["FaultsStream"]
    for record in arrivals.records(cluster.aws, stream):
        envelope = parse_envelope(record).envelope
        if envelope.events and envelope.node.instance_id != CANARY_NODE:
            cluster.aws.client("kinesis").put_record(
                StreamName=stream, Data=record, PartitionKey=envelope.node.instance_id
            )

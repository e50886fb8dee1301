"""From AWS's events to envelopes of our nodes: whose they are, what a repeat is, what a failing dependency does."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from functions.intake.identify import KEPT, KEPT_AFTER_THE_END, Register
from functions.intake.intake import NOT_OURS, TAKEN, UNKNOWN, take_in
from functions.ports.topology import Described
from functions.settings import ClusterSettings
from functions.twins.faults import MemoryFaultsLane
from functions.twins.topology import MemoryEc2Directory, MemoryTopology
from functions.twins.triage import MemoryTelemetry
from policies.contract.envelope import Envelope, parse_envelope
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import Kind, Orchestrator

DATA = Path(__file__).parents[3] / "data" / "aws_events"
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
CLUSTERS = {
    "training": ClusterSettings(
        name="training", orchestrator="eks", eks_cluster="training", auto_scaling_groups=("training-p5",)
    ),
    "jobs": ClusterSettings(name="jobs", orchestrator="sagemaker", sagemaker_role_arn="arn:aws:iam::1:role/r"),
}
OURS, THEIRS = "i-0aaaaaaaaaaaaaaaa", "i-0bbbbbbbbbbbbbbbb"


class Desk:
    """Intake with twins around it."""

    def __init__(self) -> None:
        self.topology, self.ec2 = MemoryTopology(), MemoryEc2Directory()
        self.faults, self.telemetry = MemoryFaultsLane(), MemoryTelemetry()
        self.now = NOW

    def take(self, *events: dict[str, Any]) -> list[Envelope]:
        before = len(self.faults.accepted)
        take_in(
            [json.dumps(event) for event in events],
            register=Register(CLUSTERS, self.topology, self.ec2),
            faults=self.faults,
            telemetry=self.telemetry,
            clock=lambda: self.now,
        )
        return self.faults.accepted[before:]

    def boot(self, instance: str, **tags: str) -> None:
        name = f"ip-10-0-0-1.{instance}.internal"
        self.ec2.instances[instance] = Described(instance, name, "p5.48xlarge", "us-east-1a", tags)

    def counted(self, name: str) -> float:
        return self.telemetry.counts.get(name, 0)


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.boot(OURS, **{"aws:autoscaling:groupName": "training-p5"})
    desk.boot(THEIRS, **{"aws:autoscaling:groupName": "web"})
    return desk


def state(instance: str, state: str, event: str = "e-1") -> dict[str, Any]:
    return {
        "id": event,
        "source": "aws.ec2",
        "detail-type": "EC2 Instance State-change Notification",
        "time": "2026-03-01T11:59:58Z",
        "resources": [],
        "detail": {"instance-id": instance, "state": state},
    }


def test_an_event_of_our_instance_becomes_an_envelope_of_its_node(desk: Desk) -> None:
    [envelope] = desk.take(state(OURS, "stopping"))
    assert (envelope.node.cluster, envelope.node.instance_id) == ("training", OURS)
    assert (envelope.node.instance_type, envelope.node.availability_zone) == ("p5.48xlarge", "us-east-1a")
    [event] = envelope.events
    assert (event.kind, event.seq, envelope.first_seq) == (Kind.INSTANCE_STATE_CHANGED, 0, 0)
    assert envelope.sent_at == NOW
    assert event.observed_at == NOW - timedelta(seconds=2)
    assert parse_envelope(envelope.to_json().encode()).envelope == envelope


def test_the_tag_makes_an_instance_ours_whatever_its_group(desk: Desk) -> None:
    desk.boot("i-0cccccccccccccccc", **{"relight:cluster": "training", "aws:autoscaling:groupName": "other"})
    desk.boot("i-0dddddddddddddddd", **{"relight:cluster": "somebody-elses"})
    envelopes = desk.take(state("i-0cccccccccccccccc", "running"), state("i-0dddddddddddddddd", "running"))
    assert [it.node.instance_id for it in envelopes] == ["i-0cccccccccccccccc"]


def test_what_is_not_ours_is_acknowledged_and_counted(desk: Desk) -> None:
    assert desk.take(state(THEIRS, "terminated"), state("i-0eeeeeeeeeeeeeeee", "running")) == []
    assert (desk.counted(NOT_OURS), desk.counted(TAKEN), desk.topology.kept) == (2, 0, {})


def test_what_is_not_known_stops_nothing_and_is_counted(desk: Desk) -> None:
    assert len(desk.take({"detail-type": "?"}, state(OURS, "stopped"), {"what": "ever"})) == 1
    assert (desk.counted(UNKNOWN), desk.counted(TAKEN)) == (2, 1)
    assert len(desk.telemetry.remarks) == 2


def test_a_node_that_ec2_has_forgotten_is_known_from_the_table(desk: Desk) -> None:
    desk.take(state(OURS, "running"))
    del desk.ec2.instances[OURS]
    asked = desk.ec2.asked
    [envelope] = desk.take(state(OURS, "terminated", "e-2"))
    assert envelope.node.cluster == "training"
    assert desk.ec2.asked == asked


def test_a_node_is_kept_long_and_after_its_end_not_so_long(desk: Desk) -> None:
    desk.take(state(OURS, "running"))
    assert desk.topology.expires["training", OURS] == NOW + KEPT
    desk.take(state(OURS, "terminated", "e-2"))
    assert desk.topology.expires["training", OURS] == NOW + KEPT_AFTER_THE_END


def test_the_same_event_twice_has_the_same_spool_and_event_id(desk: Desk) -> None:
    [first] = desk.take(state(OURS, "stopping"))
    desk.now += timedelta(minutes=1)
    [again] = desk.take(state(OURS, "stopping"))
    assert (again.spool_id, again.events[0].id) == (first.spool_id, first.events[0].id)
    [other] = desk.take(state(OURS, "stopped", "e-2"))
    assert other.spool_id != first.spool_id
    assert other.events[0].id != first.events[0].id


def test_a_reservation_that_ends_concerns_every_instance_in_it(desk: Desk) -> None:
    desk.boot("i-0cccccccccccccccc", **{"relight:cluster": "training"})
    desk.ec2.reservations["cr-02168da1478b509e0"] = [OURS, THEIRS, "i-0cccccccccccccccc"]
    envelopes = desk.take(json.loads((DATA / "capacity_block_expiration_warning.json").read_text()))
    assert [it.node.instance_id for it in envelopes] == [OURS, "i-0cccccccccccccccc"]
    assert {it.events[0].kind for it in envelopes} == {Kind.CAPACITY_EXPIRING}
    assert len({it.spool_id for it in envelopes}) == 2


def failed_job(**tags: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((DATA / "sagemaker_training_job_state_change.json").read_text())
    data["detail"].update(TrainingJobName="llm-r01", TrainingJobStatus="Failed", Tags=tags)
    return data


def test_a_failed_training_job_stands_for_itself(desk: Desk) -> None:
    [envelope] = desk.take(failed_job(**{"relight:cluster": "jobs"}))
    assert (envelope.node.cluster, envelope.node.name) == ("jobs", "llm-r01")
    [event] = envelope.events
    assert event.job is not None
    assert (event.job.id, event.job.orchestrator) == ("llm-r01", Orchestrator.SAGEMAKER)


def test_a_training_job_without_our_tag_is_somebody_elses(desk: Desk) -> None:
    assert desk.take(failed_job(), failed_job(**{"relight:cluster": "unknown"})) == []
    assert desk.counted(NOT_OURS) == 2


def test_a_lane_that_refuses_brings_the_batch_back_whole(desk: Desk) -> None:
    desk.faults.failing = True
    with pytest.raises(DependencyError):
        desk.take(state(OURS, "stopping"))
    desk.faults.failing = False
    assert len(desk.take(state(OURS, "stopping"))) == 1


def test_a_batch_asks_the_table_and_ec2_once(desk: Desk) -> None:
    desk.take(*(state(OURS, "running", f"e-{number}") for number in range(10)))
    assert desk.ec2.asked == 1


def test_where_an_instance_is_is_kept_once_it_runs(desk: Desk) -> None:
    [envelope] = desk.take(state(OURS, "pending"))
    assert envelope.node.network_path == ()
    desk.ec2.paths[OURS] = ("nn-1", "nn-2", "nn-3")
    [envelope] = desk.take(state(OURS, "running", "e-2"))
    assert envelope.node.network_path == ("nn-1", "nn-2", "nn-3")
    assert desk.topology.kept["training", OURS] == envelope.node
    desk.ec2.paths.clear()
    [envelope] = desk.take(state(OURS, "stopping", "e-3"))
    assert envelope.node.network_path == ("nn-1", "nn-2", "nn-3")


def test_where_it_is_keeps_no_event_waiting(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(instance_ids: object) -> dict[str, tuple[str, ...]]:
        raise DependencyError(f"EC2 does not answer for {instance_ids}.")

    monkeypatch.setattr(desk.ec2, "places", refuse)
    assert len(desk.take(state(OURS, "running"))) == 1

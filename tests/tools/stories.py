"""How a story on a local cluster begins and how it must end, told by the world and not by Relight's own account.

The world: AWS's record of calls, the Kubernetes audit log, the instances of the group, the pointer object, what the
job itself did, and the sequence numbers that agents gave out against those that triage has in its ledger. Several
stories may run on one cluster, one after the other: each counts from its own beginning.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.spool.state import SpoolState
from local.aws.principals import role_name
from local.demo import acts, arrivals, seeding
from local.demo.acts import Acts
from local.demo.cluster import LocalCluster
from local.fleet import infrastructure
from local.fleet.fleet import Fault
from local.fleet.machines import Machine
from local.fleet.resuming import POINTER
from policies.coordination.incident import Incident
from policies.node_state import NodeState

# Limits, no expectations: on a machine that others load, workers may take many of them to begin.
CLOSE_SECONDS = 300.0
SETTLE_SECONDS = 90.0
XID_79 = "xid-79-fell-off-the-bus"


@dataclass
class Story:
    """One story, from now on."""

    cluster: LocalCluster
    acts: Acts = field(init=False)
    machines: int = field(init=False)
    starts: int = field(init=False)
    known: frozenset[str] = field(init=False)
    rejected: int = field(init=False)

    def __post_init__(self) -> None:
        self.acts = self._acts()
        self.machines = len(self.cluster.room)
        self.starts = len(self.cluster.training.record.starts)
        self.rejected = len(self.rejects())
        self.known = frozenset(incident.id for incident in self.cluster.incidents())

    def machine(self, place: int = 1) -> Machine:
        """The machine with this place among those that are well."""
        return [each for each in self.cluster.room if each.is_on and not each.broken_gpus][place]

    def break_gpu(self, place: int = 1, gpu: int = 3) -> Fault:
        """Let a GPU of that machine fall off the bus."""
        return self.cluster.fleet.break_gpu(self.machine(place).instance_id, gpu=gpu)

    def incidents(self) -> list[Incident]:
        """The incidents of this story, oldest first."""
        return [incident for incident in self.cluster.incidents() if incident.id not in self.known]

    def wait(self, happened: Callable[[], object], otherwise: str, seconds: float = SETTLE_SECONDS) -> None:
        """Return when it has happened; else say what did not, what the incidents are at, and where the logs lie."""
        self.cluster.wait_for(happened, seconds, f"{otherwise} ({self._told()})", every=0.1)

    def _told(self) -> str:
        return f"faults still to come: {self.cluster.aws.pending_faults()}"

    def acting(self) -> list[Incident]:
        """The incidents of this story that are about replacing a node."""
        return [incident for incident in self.incidents() if incident.policy.name == XID_79]

    def wait_closed(self, count: int = 1, seconds: float = CLOSE_SECONDS) -> list[Incident]:
        """The replacing incidents, once there are *count* and each is closed. None may be parked."""
        self.wait(lambda: self._are_closed(count), f"{count} incident(s) did not close", seconds)
        found = self.acting()
        assert {incident.status for incident in found} == {"closed"}, [one.reason for one in found]
        return found

    def _are_closed(self, count: int) -> bool:
        found = self.acting()
        parked = [incident.reason for incident in found if incident.status == "parked"]
        assert not parked, f"parked: {parked}; the logs lie in {self.cluster.data_dir}"
        return len(found) >= count and all(incident.status == "closed" for incident in found)

    def ends_well(self, *faults: Fault) -> list[Incident]:
        """One replacement a fault, one suspension and one resume in all, a run that goes on, and no event lost."""
        incidents = self.wait_closed(len(faults))
        assert self.cluster.aws.pending_faults() == [], "what was to go wrong did not"
        assert self.cluster.kubernetes.kills.pending == 0, "who was to die did not"
        assert sorted(one.node.instance_id for one in incidents) == sorted(fault.instance_id for fault in faults)
        self.acted_once(endings=len(faults))
        self._replaced(faults, incidents)
        self._resumed(incidents)
        self.nothing_lost()
        self.nothing_given_up()
        return incidents

    def acted_once(self, endings: int) -> None:
        """As many instances given up as there were faults; one suspension and one resume."""
        now = self._acts()
        done = Acts(
            endings=now.endings - self.acts.endings,
            suspensions=now.suspensions - self.acts.suspensions,
            resumptions=now.resumptions - self.acts.resumptions,
        )
        assert done == Acts(endings=endings, suspensions=1, resumptions=1)

    def acted_on_nothing(self) -> None:
        """No instance was given up, no run stopped or let go."""
        assert self._acts() == self.acts

    def _acts(self) -> Acts:
        return acts.observe(self.cluster.aws.recorded_calls(), self.cluster.kubernetes.audit.entries())

    def _replaced(self, faults: Sequence[Fault], incidents: Sequence[Incident]) -> None:
        room, size = self.cluster.room, self.cluster.site.size
        assert len(room) - self.machines == len(faults), "one successor a fault"
        self.wait(lambda: all(room.get(one.instance_id).is_gone for one in faults), "a broken instance is not gone")
        alive = {
            one["InstanceId"]
            for one in infrastructure.instances_of(self.cluster.aws, self.cluster.site)
            if one["State"]["Name"] == "running"
        }
        assert len(alive) == size
        assert not alive & {fault.instance_id for fault in faults}
        successors = {incident.facts["new_instance"] for incident in incidents}
        assert len(successors) == len(faults)
        assert successors <= alive

    def _resumed(self, incidents: Sequence[Incident]) -> None:
        (resumer,) = [incident for incident in incidents if "resumed_step" in incident.facts]
        step, record = resumer.facts["chosen_step"], self.cluster.training.record
        starts = record.starts[self.starts :]
        assert [start for start, _ in starts] == [step], "the job started again once, from the chosen step"
        complete = [saved for saved, at in record.first_saved.items() if at < starts[0][1]]
        assert step == max(complete), "the newest whole checkpoint is the one to go on from"
        pointer = self.pointer()
        assert (pointer["step"], pointer["incident"]) == (step, resumer.id)
        assert resumer.facts["confirmed_step"] > step
        self.wait(lambda: self.cluster.training.step > step, f"the job does not train past step {step}")

    def pointer(self) -> dict[str, Any]:
        """The pointer object beside the checkpoints."""
        site = self.cluster.site
        body = self.cluster.aws.client("s3").get_object(Bucket=site.bucket, Key=f"{site.prefix}/{POINTER}")["Body"]
        found: dict[str, Any] = json.loads(body.read())
        return found

    def nothing_lost(self) -> None:
        """Every number that an agent gave out stands in triage's ledger, or still waits on a node that is on."""
        missing: dict[str, list[int]] = {}

        def all_arrived() -> bool:
            missing.clear()
            missing.update({name: lost for name, lost in map(self._unheard, self.cluster.room) if lost})
            return not missing

        self.wait(all_arrived, f"events never reached triage: {missing}")

    def _unheard(self, machine: Machine) -> tuple[str, list[int]]:
        spool = spool_of(machine)
        ranges = self.ledger(machine, spool.spool_id)
        heard = {seq for first, last in ranges for seq in range(first, last + 1)}
        waiting = set(spool.waiting) if machine.is_on else set()
        return machine.name, sorted(set(range(spool.next_seq)) - heard - waiting)

    def ledger(self, machine: Machine, spool_id: str) -> list[list[int]]:
        """The ranges of sequence numbers that triage has committed for this spool."""
        document = self.window(machine).get("doc", {"S": ""})["S"]
        state = NodeState.load(document)
        assert state is not None
        ranges: list[list[int]] = state.spool(spool_id).dump()[0]
        return ranges

    def window(self, machine: Machine) -> dict[str, Any]:
        """Triage's item about this machine; empty when there is none."""
        key = {
            "pk": {"S": f"CLUSTER#{self.cluster.site.cluster}"},
            "sk": {"S": f"NODE#{machine.instance_id}#window"},
        }
        found: dict[str, Any] = self.cluster.aws.client("dynamodb").get_item(
            TableName=self.cluster.outputs["FleetTable"], Key=key, ConsistentRead=True
        )
        return dict(found.get("Item", {}))

    def records(self) -> list[bytes]:
        """What was put on the stream, in the order of its shards."""
        return arrivals.records(self.cluster.aws, self.cluster.outputs["FaultsStream"])

    def rejects(self) -> list[dict[str, Any]]:
        """The index of the rejects store, oldest first; not only this story's."""
        pages = (
            self.cluster.aws.client("dynamodb")
            .get_paginator("scan")
            .paginate(
                TableName=self.cluster.outputs["FleetTable"],
                FilterExpression="begins_with(pk, :rejects)",
                ExpressionAttributeValues={":rejects": {"S": "REJECTS#"}},
                ConsistentRead=True,
            )
        )
        return sorted((item for page in pages for item in page["Items"]), key=lambda item: str(item["sk"]["S"]))

    def nothing_given_up(self, rejects: int = 0) -> None:
        """No message in a dead-letter queue, no batch dropped by a mapping, no more rejected records than these."""
        assert len(self.rejects()) - self.rejected == rejects
        assert dead_letters(self.cluster) == {}
        listed = self.cluster.aws.client("s3").list_objects_v2(Bucket=self.cluster.outputs["RejectsBucket"])
        dropped = [one["Key"] for one in listed.get("Contents", []) if not one["Key"].startswith("rejects/")]
        assert dropped == []


def spool_of(machine: Machine) -> SpoolState:
    """What the agent's journal says on this machine's disk."""
    spool = arrivals.read_spool(machine.spool)
    assert spool is not None, f"no agent ever ran on {machine.name}; its log is {machine.folder}/agent.log"
    return spool


def role_of(cluster: LocalCluster, function: str) -> str:
    """The role under which this function calls AWS (`triage`)."""
    name = cluster.outputs[f"{function.capitalize()}Function"]
    return role_name(cluster.aws.client("lambda").get_function_configuration(FunctionName=name)["Role"])


def dead_letters(cluster: LocalCluster) -> dict[str, int]:
    """Messages by dead-letter queue, where there are any."""
    sqs = cluster.aws.client("sqs")
    urls = [url for url in sqs.list_queues().get("QueueUrls", []) if "Dlq" in url or "Undelivered" in url]
    assert urls, "the stack has dead-letter queues"
    counts = {url: _waiting(sqs, url) for url in urls}
    return {url.rpartition("/")[2]: count for url, count in counts.items() if count}


def _waiting(sqs: Any, url: str) -> int:  # noqa: ANN401 - boto3's clients are made at run time
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    return sum(map(int, sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"].values()))


def put_policy(cluster: LocalCluster, document: dict[str, Any]) -> int:
    """Edit a policy as an operator does; return the revision once the guard has put it into force."""
    table, name = cluster.outputs["PoliciesTable"], document["name"]
    before = revision_of(cluster, name)
    seeding.put_policies(cluster.aws, table, {name: document})
    cluster.wait_for(
        lambda: revision_of(cluster, name) > before, SETTLE_SECONDS, f"the guard did not accept {name}", every=0.1
    )
    return revision_of(cluster, name)


def revision_of(cluster: LocalCluster, name: str) -> int:
    """The revision in force, 0 when there is none."""
    key = {"name": {"S": name}, "sk": {"S": "head"}}
    found = cluster.aws.client("dynamodb").get_item(
        TableName=cluster.outputs["PoliciesTable"], Key=key, ConsistentRead=True
    )
    return int(found["Item"]["revision"]["N"]) if "Item" in found else 0


def allow_many_replacements(cluster: LocalCluster) -> None:
    """Several stories on one cluster replace more nodes within ten minutes than the shipped policy allows."""
    document = seeding.shipped_policies()[XID_79]
    put_policy(cluster, {**document, "limits": {"replacements": {"at_most": 20, "within": "10m", "per": "cluster"}}})


def shorten_redelivery(cluster: LocalCluster, seconds: int = 5) -> None:
    """Let a message of a worker that died come back sooner than after the queue's thirty seconds."""
    cluster.aws.client("sqs").set_queue_attributes(
        QueueUrl=cluster.outputs["DecisionsQueueUrl"], Attributes={"VisibilityTimeout": str(seconds)}
    )

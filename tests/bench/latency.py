"""Seen → queued and seen → decided: 200 nodes, one fault each, two a second, on the embedded AWS as it is deployed.

Each node's agent runs from its own parts in this process (see `one_process`), only around its fault, so that a few are
alive at a time. Seen is just before the fault's line is written to the node's log, which is before the agent reads it.
Queued is when Kinesis has acknowledged the agent's put. Decided is when the incident, with policy and first rung, can
be read from its table, looked for every 15 ms. Triage, coordinate, executions and outbox are the deployed ones, in real
time (scale 1). The policy is the shipped one for Xid 79 with an approval: nobody acts on nodes that are not there.

RELIGHT_BENCH_NODES=20 takes a quick look.
"""

import os
import queue
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import boto3

from agent.aws import KinesisLane
from local.aws.deploy import deploy
from local.aws.server import EmbeddedAws
from local.demo import seeding
from local.demo.cluster import ROOT, STACK, own_assembly
from local.demo.incidents import read_incidents
from local.fleet.infrastructure import NODE_ROLE
from policies.contract.envelope import NodeIdentity
from policies.contract.events import JobRef
from policies.contract.vocabulary import Orchestrator
from tests.bench.measure import Figure, quantiles
from tests.bench.one_process import TimedLane, agent_here

NODES = int(os.environ.get("RELIGHT_BENCH_NODES", "200"))
SECONDS_BETWEEN = 0.5
WARM_UP = 3
AT_ONCE = 8
AHEAD_SECONDS = 1.5  # an agent is there before its GPU breaks
LOOK_SECONDS = 0.015
PATIENCE_SECONDS = 60.0
CLUSTER = "training"
XID_79 = "xid-79-fell-off-the-bus"
JOB = JobRef(id="training/llama-pretrain", orchestrator=Orchestrator.EKS)


@dataclass(frozen=True)
class Told:
    """How long one fault took, in milliseconds."""

    queued: float
    decided: float


@dataclass
class Bench:
    """The deployment, and lanes whose clients are made and warm."""

    aws: EmbeddedAws
    outputs: dict[str, str]
    folder: Path
    lanes: "queue.SimpleQueue[KinesisLane]" = field(default_factory=queue.SimpleQueue)

    def __post_init__(self) -> None:
        for _ in range(AT_ONCE):
            lane = KinesisLane(self.outputs["FaultsStream"], self.aws.region)
            assert lane.check()
            self.lanes.put(lane)

    def tell(self, number: int, due: float) -> Told:
        """Break a GPU of node *number* when it is *due*; return how long the fault took."""
        node = NodeIdentity(
            cluster=CLUSTER,
            name=f"node-{number}",
            instance_id=f"i-{number:017x}",
            instance_type="p5.48xlarge",
            availability_zone="us-east-1a",
            boot_id=f"boot-{number}",
        )
        lane = self.lanes.get()
        timed = TimedLane(lane)
        with agent_here(self.folder / node.instance_id, node, timed, JOB) as log:
            time.sleep(max(0.0, due - time.perf_counter()))
            seen = time.perf_counter()
            log.xid(3, 79)
            queued = timed.wait_for(b'"gpu.xid"')
            decided = self._decided(node)
        self.lanes.put(lane)
        return Told((queued - seen) * 1000, (decided - seen) * 1000)

    def _decided(self, node: NodeIdentity) -> float:
        dynamodb, deadline = self.aws.client("dynamodb"), time.perf_counter() + PATIENCE_SECONDS
        while not dynamodb.query(
            TableName=self.outputs["IncidentsTable"],
            IndexName="by-node",
            KeyConditionExpression="node_key = :node",
            ExpressionAttributeValues={":node": {"S": f"{node.cluster}#{node.instance_id}"}},
        )["Count"]:
            assert time.perf_counter() < deadline, f"no incident for {node.instance_id}; logs: {self.aws.data_dir}"
            time.sleep(LOOK_SECONDS)
        return time.perf_counter()


def figures() -> Iterator[Figure]:
    """Warm the functions up, then break one GPU of each node."""
    with tempfile.TemporaryDirectory() as folder, _bench(Path(folder)) as bench:
        _tell_all(bench, range(WARM_UP))
        told = _tell_all(bench, range(WARM_UP, WARM_UP + NODES))
        incidents = read_incidents(bench.aws, bench.outputs["IncidentsTable"])
        assert len(incidents) == WARM_UP + NODES, "one incident a node"
        assert all(each.policy.name == XID_79 and each.rungs for each in incidents)
    how = f"{NODES} nodes, {1 / SECONDS_BETWEEN:g} a second, embedded AWS"
    yield from quantiles(f"seen → queued ({how})", "ms", [one.queued for one in told], better="lower")
    yield from quantiles(f"seen → decided ({how})", "ms", [one.decided for one in told], better="lower")


def _tell_all(bench: Bench, numbers: range) -> list[Told]:
    begin = time.perf_counter() + AHEAD_SECONDS
    with ThreadPoolExecutor(AT_ONCE) as pool:
        running = []
        for place, number in enumerate(numbers):
            due = begin + place * SECONDS_BETWEEN
            time.sleep(max(0.0, due - AHEAD_SECONDS - time.perf_counter()))
            running.append(pool.submit(bench.tell, number, due))
        return [one.result() for one in running]


@contextmanager
def _bench(folder: Path) -> Iterator[Bench]:
    assembly = own_assembly(folder / "cdk.out")
    with EmbeddedAws(folder / "aws", code_root=ROOT, time_scale=1.0) as aws:
        outputs = deploy(aws, assembly=assembly, stack=STACK)
        policies = seeding.shipped_policies()
        policies[XID_79]["approval"] = True
        seeding.put_policies(aws, outputs["PoliciesTable"], policies)
        seeding.wait_until_accepted(aws, outputs["PoliciesTable"], set(policies), PATIENCE_SECONDS)
        with _environment(aws.environment(NODE_ROLE)):
            yield Bench(aws, outputs, folder)


@contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    """Let the agent's lanes find the embedded AWS as they do on a node: by their process's environment."""
    before = dict(os.environ)
    os.environ.update(values)
    boto3.setup_default_session()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        boto3.DEFAULT_SESSION = None

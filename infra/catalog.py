"""The functions: folder, size, settings, rights. `functions/<folder>/settings.py` reads what stands here.

Fourteen, and one that is made where it is asked for. Decides each function's environment. It must not know how a
function is built (`functions.py`) or called (`triggers.py`).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import Stack
from aws_cdk import aws_events as events

from infra.buckets import Buckets
from infra.functions import Plan, Size
from infra.lanes import Lanes
from infra.permissions import executors, grants, pipeline
from infra.settings import Cluster, Deployment, Network
from infra.tables import Tables

# What only infra needs to know of a cluster.
_HIDDEN = {"network", "checkpoint_key_arns", "access_entry"}


@dataclass(frozen=True)
class Surroundings:
    """What the functions work on."""

    stack: Stack
    deployment: Deployment
    lanes: Lanes
    tables: Tables
    buckets: Buckets
    bus: events.EventBus

    @property
    def clusters(self) -> Sequence[Cluster]:
        """Return the clusters of this deployment."""
        return self.deployment.clusters


def pipeline_plans(around: Surroundings) -> dict[str, Plan]:
    """Return the functions on an event's way. Coordinate comes by itself: it needs the state machine."""
    lanes, tables, buckets = around.lanes, around.tables, around.buckets
    fleet = {"FLEET_TABLE": tables.fleet.table_name}
    policies = {"POLICIES_TABLE": tables.policies.table_name}
    decisions = {"DECISIONS_QUEUE_URL": lanes.decisions.queue_url}
    faults = {"FAULTS_STREAM": lanes.faults.stream_name}
    archive = {"ARCHIVE_BUCKET": buckets.archive.bucket_name}
    clusters = {"CLUSTERS": render(around.clusters)}
    return {
        "triage": Plan(
            folder="triage",
            size=Size(seconds=60, megabytes=1769),  # one whole processor
            rights=pipeline.triage(lanes, tables, buckets),
            environment={
                **fleet,
                **policies,
                **decisions,
                "REJECTS_BUCKET": buckets.rejects.bucket_name,
                "REJECTS_DAYS": str(around.deployment.rejects_retention_days),
                **archive,
            },
        ),
        "archive": Plan(
            folder="archive",
            size=Size(seconds=60),  # the largest batch takes 0.3 s and 10 MB (measured with 2832 records, 6 MB)
            rights=pipeline.archive(lanes, tables, buckets),
            environment={**archive, **fleet},
        ),
        "guard": Plan(
            folder="guard",
            size=Size(seconds=30),
            rights=pipeline.guard(tables, buckets),
            environment={**policies, "INCIDENTS_TABLE": tables.incidents.table_name},
            dead_letters=lanes.undelivered,
        ),
        "sweep": Plan(
            folder="sweep",
            size=Size(seconds=30),
            rights=pipeline.sweep(lanes, tables),
            environment={
                **clusters,
                **decisions,
                **faults,
                **fleet,
                "SILENT_AFTER_SECONDS": str(around.deployment.silent_after_seconds),
            },
            dead_letters=lanes.undelivered,
        ),
        "intake": Plan(
            folder="intake",
            size=Size(seconds=30),
            rights=pipeline.intake(lanes, tables),
            environment={**clusters, **faults, **fleet},
        ),
        "outbox": Plan(
            folder="outbox",
            size=Size(seconds=30),
            rights=pipeline.outbox(tables, buckets, around.bus),
            environment={"BUS_NAME": around.bus.event_bus_name},
        ),
        "report": Plan(
            folder="report",
            size=Size(seconds=120, megabytes=1024),  # 10,000 incidents of 2 KB are 150 MB and 3 s (measured)
            rights=pipeline.report(tables),
            environment={**clusters, **policies, "INCIDENTS_TABLE": tables.incidents.table_name},
            dead_letters=lanes.undelivered,
        ),
    }


def callers_plan(around: Surroundings) -> Plan:
    """Return the function that notes who wrote policies. The stack adds OWN_ROLES: its own role is among them."""
    tables = around.tables
    return Plan(
        folder="callers",
        size=Size(seconds=30),
        rights=pipeline.callers(around.lanes, tables),
        environment={
            "POLICIES_TABLE": tables.policies.table_name,
            "INCIDENTS_TABLE": tables.incidents.table_name,
        },
    )


def executor_plans(around: Surroundings) -> dict[str, Plan]:
    """Return the functions that handle-incident calls, by gap of its definition; one of kubernetes for each VPC."""
    stack, tables, clusters = around.stack, around.tables, around.clusters
    plans = {
        "InstancesFunctionArn": _executor(around, "instances", executors.instances(stack, tables, clusters)),
        "CheckpointsFunctionArn": _executor(
            around,
            "checkpoints",
            executors.checkpoints(stack, tables, clusters),
            size=Size(seconds=120, megabytes=1024),
        ),
        "SagemakerFunctionArn": _executor(around, "sagemaker", executors.sagemaker(stack, tables, clusters)),
        "EvidenceFunctionArn": _executor(
            around,
            "evidence",
            executors.evidence(stack, tables, around.buckets, clusters),
            more={"EVIDENCE_BUCKET": around.buckets.evidence.bucket_name, **_asks_nodes(around)},
        ),
        "NodesFunctionArn": _executor(around, "nodes", executors.nodes(tables), more=_asks_nodes(around)),
    }
    for gap, (network, reached) in networks(around.deployment).items():
        rights = executors.kubernetes(stack, tables, reached)
        plans[gap] = _executor(around, "kubernetes", rights, clusters=reached or clusters, network=network)
    return plans


def coordinate_plan(around: Surroundings, machine_arn: str, rights: pipeline.Statements) -> Plan:
    """Return coordinate, which starts *machine_arn*. Ten seconds: its messages come back after thirty."""
    tables = around.tables
    return Plan(
        folder="coordinate",
        size=Size(seconds=10, megabytes=1024),
        rights=[*pipeline.coordinate(around.lanes, tables), *rights],
        environment={
            "FLEET_TABLE": tables.fleet.table_name,
            "INCIDENTS_TABLE": tables.incidents.table_name,
            "POLICIES_TABLE": tables.policies.table_name,
            "STATE_MACHINE_ARN": machine_arn,
            "DECISIONS_DLQ_URL": around.lanes.decisions_dead.queue_url,
            "CLUSTERS": render(around.clusters),
        },
    )


def networks(deployment: Deployment) -> dict[str, tuple[Network | None, Sequence[Cluster]]]:
    """Return gap -> network and the clusters reached from it; the first gap is the one outside any VPC."""
    reached: dict[Network | None, list[Cluster]] = {None: []}
    for cluster in deployment.clusters:
        reached.setdefault(cluster.network, []).append(cluster)
    gaps = ["KubernetesFunctionArn", *(f"KubernetesVpc{number}FunctionArn" for number in range(1, len(reached)))]
    return dict(zip(gaps, reached.items(), strict=True))


def routes(deployment: Deployment) -> dict[str, Sequence[str]]:
    """Return gap -> names of the clusters whose incidents go there instead of to the function outside any VPC."""
    return {
        gap: [cluster.name for cluster in reached]
        for gap, (network, reached) in networks(deployment).items()
        if network
    }


def render(clusters: Sequence[Cluster]) -> str:
    """Return CLUSTERS: what functions are told of clusters, in the shape of `functions/settings.py`."""
    listed = [cluster.model_dump(mode="json", exclude=_HIDDEN, exclude_none=True) for cluster in clusters]
    return json.dumps(listed, separators=(",", ":"))


def _asks_nodes(around: Surroundings) -> dict[str, str]:
    """Return what whoever asks nodes is told: the table, and what the ARN of every instance here begins with."""
    return {
        "COMMANDS_TABLE": around.tables.commands.table_name,
        "INSTANCE_ARNS": grants.arn(around.stack, "ec2", "instance", ""),
    }


def _executor(
    around: Surroundings,
    folder: str,
    rights: pipeline.Statements,
    *,
    clusters: Sequence[Cluster] | None = None,
    more: dict[str, str] | None = None,
    network: Network | None = None,
    size: Size | None = None,
) -> Plan:
    tables = around.tables
    return Plan(
        folder=folder,
        size=size or Size(seconds=60),
        rights=rights,
        network=network,
        environment={
            "FLEET_TABLE": tables.fleet.table_name,
            "INCIDENTS_TABLE": tables.incidents.table_name,
            "CLUSTERS": render(clusters or around.clusters),
            **(more or {}),
        },
    )

"""What the functions on an event's way may do: triage, guard, callers, coordinate, sweep, intake, outbox, report.

One writer an item: the fleet table's partitions are shared by cluster, so that IAM can only tell clusters, rejects and
incidents apart; who writes which sort key is kept by code.
"""

from collections.abc import Sequence

from aws_cdk import aws_events as events
from aws_cdk import aws_stepfunctions as stepfunctions

from infra.buckets import DROPPED_PREFIX, Buckets
from infra.lanes import Lanes
from infra.permissions import grants
from infra.tables import Tables

_OBJECTS = "an object is named by the day and id of what it holds"
Statements = Sequence[grants.Right]


def triage(lanes: Lanes, tables: Tables, buckets: Buckets) -> Statements:
    """Read both lanes, the policies and what they ask of nodes, keep windows and rejects, send what is found."""
    fleet = ("BatchGetItem", "PutItem", "UpdateItem")
    return [
        grants.read_stream("Faults", lanes.faults),
        grants.consume("Overflow", lanes.overflow),
        grants.items("Fleet", [tables.fleet], fleet, [grants.CLUSTER_KEYS, grants.REJECT_KEYS]),
        grants.items("Policies", [tables.policies], ("GetItem", "BatchGetItem", "Scan")),
        grants.send("Decisions", lanes.decisions),
        grants.allow("Rejects", ["s3:PutObject"], [buckets.rejects.arn_for_objects("rejects/*")], why=_OBJECTS),
        _archive(buckets, "events"),
        *grants.keep_dropped(buckets.rejects, DROPPED_PREFIX),
    ]


def archive(lanes: Lanes, tables: Tables, buckets: Buckets) -> Statements:
    """Read what goes by, and where nodes are, and write it into the archive; nothing can be read there or removed."""
    return [
        grants.read_stream("Faults", lanes.faults),
        *grants.changes("Incidents", tables.incidents),
        *grants.changes("Policies", tables.policies),
        grants.items("Topology", [tables.fleet], ("BatchGetItem",), [grants.CLUSTER_KEYS]),
        _archive(buckets, "events", "incidents", "policies"),
        *grants.keep_dropped(buckets.rejects, DROPPED_PREFIX),
    ]


def _archive(buckets: Buckets, *families: str) -> grants.Right:
    kept = [buckets.archive.arn_for_objects(f"{family}/*") for family in families]
    return grants.allow("Archive", ["s3:PutObject"], kept, why="an object is named by hour and what is in it")


def guard(tables: Tables, buckets: Buckets) -> Statements:
    """Follow edits of policies and answer them on the same items; what people must hear of goes the incidents' way."""
    return [
        *grants.changes("Edits", tables.policies),
        grants.items(
            "Policies",
            [tables.policies],
            ("GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem", "Query", "Scan"),
        ),
        grants.items("Notices", [tables.incidents], ("PutItem",), [grants.NOTICE_KEYS]),
        *grants.keep_dropped(buckets.rejects, DROPPED_PREFIX),
    ]


def callers(lanes: Lanes, tables: Tables) -> Statements:
    """Note who wrote policies, beside them: no policy can be read or written. People are told the incidents' way."""
    assert lanes.calls is not None
    return [
        grants.consume("Calls", lanes.calls),
        grants.items("Callers", [tables.policies], ("PutItem",), [grants.CALL_KEYS]),
        grants.items("Notices", [tables.incidents], ("PutItem",), [grants.NOTICE_KEYS]),
    ]


def coordinate(lanes: Lanes, tables: Tables) -> Statements:
    """Be the only writer of leases, holds, budgets, counts over many nodes and incidents, read what may act now.

    What is refused it dead-letters. It edits no policy: of their table it writes only that one put itself in shadow.
    Its executions come by :func:`executions`.
    """
    verbs = ("BatchGetItem", "PutItem")
    return [
        grants.consume("Decisions", lanes.decisions),
        grants.send("Refused", lanes.decisions_dead),
        grants.items("State", [tables.fleet, tables.incidents], verbs, [grants.CLUSTER_KEYS, grants.INCIDENT_KEYS]),
        grants.items("Switches", [tables.policies], ("BatchGetItem",)),
        grants.items("SelfShadow", [tables.policies], ("PutItem",), [grants.SHADOW_KEYS]),
        grants.index("IncidentsByStatus", tables.incidents, "by-status"),
    ]


def executions(machine: stepfunctions.StateMachine) -> Statements:
    """Start handle-incident, look after its runs, answer its asks."""
    runs = grants.arn(machine.stack, "states", "execution", f"{machine.state_machine_name}:*", colon=True)
    return [
        grants.allow("Start", ["states:StartExecution"], [machine.state_machine_arn]),
        # Whoever holds a task token may answer it: the token is the right, and only the decisions queue carries it.
        grants.allow("Answer", ["states:SendTaskSuccess"], ["*"], why=grants.NO_RESOURCE),
        grants.allow("Runs", ["states:DescribeExecution"], [runs], why="a run is named by its incident"),
    ]


def sweep(lanes: Lanes, tables: Tables) -> Statements:
    """Ask coordinate to look at every open incident; put canaries and silent nodes on the stream.

    Who was heard and who is worked on stand in the fleet table; whether a silent node should be alive, EC2 and Auto
    Scaling say. They say as well what a cluster could still get, and that it writes to the fleet table.
    """
    look = ("ec2:DescribeInstances", "ec2:DescribeInstanceStatus", "autoscaling:DescribeAutoScalingInstances")
    room = (
        "ec2:DescribeCapacityReservations",
        "autoscaling:DescribeAutoScalingGroups",
        "autoscaling:DescribeScalingActivities",
        "autoscaling:DescribeWarmPool",
    )
    return [
        grants.send("Decisions", lanes.decisions),
        grants.put_records("Faults", lanes.faults),
        grants.items("Fleet", [tables.fleet], ("GetItem", "Query", "PutItem"), [grants.CLUSTER_KEYS]),
        grants.allow("Describe", look, ["*"], why=grants.NO_RESOURCE),
        grants.allow("Capacity", room, ["*"], why=grants.NO_RESOURCE),
    ]


def intake(lanes: Lanes, tables: Tables) -> Statements:
    """Take AWS's own events, find whose instance it is and where, put it on the stream."""
    verbs = ("BatchGetItem", "PutItem")
    look = ("ec2:DescribeInstances", "ec2:DescribeInstanceTopology")
    return [
        grants.consume("AwsEvents", lanes.aws_events),
        grants.items("Topology", [tables.fleet], verbs, [grants.CLUSTER_KEYS]),
        grants.put_records("Faults", lanes.faults),
        grants.allow("Describe", look, ["*"], why=grants.NO_RESOURCE),
    ]


def report(tables: Tables) -> Statements:
    """List incidents, read which policies are in shadow, and keep the notice that tells people of it."""
    return [
        grants.index("Incidents", tables.incidents, "by-status"),
        grants.items("Policies", [tables.policies], ("GetItem", "BatchGetItem")),
        grants.items("Notices", [tables.incidents], ("PutItem",), [grants.NOTICE_KEYS]),
    ]


def outbox(tables: Tables, buckets: Buckets, bus: events.EventBus) -> Statements:
    """Follow changes of incidents and tell the bus."""
    return [
        *grants.changes("Incidents", tables.incidents),
        grants.allow("Bus", ["events:PutEvents"], [bus.event_bus_arn]),
        *grants.keep_dropped(buckets.rejects, DROPPED_PREFIX),
    ]

"""Topology items in DynamoDB, and EC2's directory.

``CLUSTER#<c>`` / ``NODE#<instance id>#topology``: ``identity`` is the node identity as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from functions.adapters.aws import calling, error_code
from functions.adapters.batch_get import batch_get
from functions.ports.topology import Described
from policies.contract.envelope import NodeIdentity
from policies.contract.errors import DependencyError

if TYPE_CHECKING:  # the runtime has no type stand-ins for boto3
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_ec2 import EC2Client
    from types_boto3_ec2.type_defs import InstanceTopologyTypeDef, InstanceTypeDef


IDS_PER_CALL = 100  # DescribeInstanceTopology, InstanceIds


class DynamoTopology:
    """See `functions/ports/topology.py`."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        """Read and write *table*, the fleet table."""
        self._client = client
        self._table = table

    def find(self, clusters: Sequence[str], instance_ids: Sequence[str]) -> Mapping[str, NodeIdentity]:
        """See the port."""
        keys = [_key(cluster, instance) for instance in dict.fromkeys(instance_ids) for cluster in clusters]
        read = batch_get(self._client, [(self._table, key) for key in keys], "reading topology items")
        nodes = [NodeIdentity.model_validate_json(item["identity"]["S"]) for _, item in read]
        return {node.instance_id: node for node in nodes}

    def keep(self, node: NodeIdentity, expires: datetime) -> None:
        """See the port."""
        item = {
            **_key(node.cluster, node.instance_id),
            "identity": {"S": node.to_json()},
            "expires": {"N": str(int(expires.timestamp()))},
        }
        with calling("keeping a topology item"):
            self._client.put_item(TableName=self._table, Item=item)


class BotoEc2Directory:
    """See `functions/ports/topology.py`."""

    def __init__(self, client: EC2Client) -> None:
        """Ask *client*."""
        self._client = client

    def describe(self, instance_ids: Sequence[str]) -> Mapping[str, Described]:
        """See the port."""
        found = map(_described, self._instances("instance-id", list(instance_ids)) if instance_ids else [])
        return {each.instance_id: each for each in found}

    def places(self, instance_ids: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
        """See the port. Types without a topology, and instances that do not run, have no network nodes."""
        found: dict[str, tuple[str, ...]] = {}
        for start in range(0, len(instance_ids), IDS_PER_CALL):
            told = self._places(list(instance_ids[start : start + IDS_PER_CALL]))
            found |= {each["InstanceId"]: tuple(each.get("NetworkNodes", ())) for each in told}
        return {name: path for name, path in found.items() if path}

    def _places(self, wanted: list[str]) -> list[InstanceTopologyTypeDef]:
        """Ask for all at once; one that EC2 has forgotten fails the call, so then for each by itself."""
        try:
            with calling("describing where instances are"):
                return self._client.describe_instance_topology(InstanceIds=wanted)["Instances"]
        except DependencyError as error:
            cause = error.__cause__
            if not isinstance(cause, ClientError) or not error_code(cause).startswith("InvalidInstanceID"):
                raise
            return [each for one in wanted for each in self._places([one])] if len(wanted) > 1 else []

    def in_reservation(self, reservation_id: str) -> Sequence[str]:
        """See the port."""
        return [each["InstanceId"] for each in self._instances("capacity-reservation-id", [reservation_id])]

    def _instances(self, name: str, values: list[str]) -> list[InstanceTypeDef]:
        """Return instances by a filter: an id that does not exist is then no error, unlike among InstanceIds."""
        pages = self._client.get_paginator("describe_instances").paginate(Filters=[{"Name": name, "Values": values}])
        with calling("describing instances"):
            return [each for page in pages for group in page["Reservations"] for each in group["Instances"]]


def _key(cluster: str, instance_id: str) -> dict[str, Any]:
    return {"pk": {"S": f"CLUSTER#{cluster}"}, "sk": {"S": f"NODE#{instance_id}#topology"}}


def _described(instance: InstanceTypeDef) -> Described:
    return Described(
        instance_id=instance["InstanceId"],
        name=instance.get("PrivateDnsName") or instance["InstanceId"],
        instance_type=instance.get("InstanceType", ""),
        availability_zone=instance.get("Placement", {}).get("AvailabilityZone", ""),
        tags={tag["Key"]: tag["Value"] for tag in instance.get("Tags", [])},
    )

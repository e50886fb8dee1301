"""The table of commands and EC2, as `relight node` asks them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from console.dlq.adapters.asking import asking
from functions.adapters.commands import DynamoDBCommands
from policies.contract.commands import items
from policies.contract.commands.command import CommandRecord

CLUSTER_TAG = "relight:cluster"

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_ec2 import EC2Client


class DynamoNodeCommands(DynamoDBCommands):
    """See `NodeCommands` in `console/node/ports.py`."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        """Keep the client and the table's name."""
        super().__init__(client, table)
        self._dynamodb, self._name = client, table

    def all_of(self, node: str) -> Sequence[CommandRecord]:
        """See the port."""
        with asking(f"reading the commands to {node}"):
            pages = self._dynamodb.get_paginator("query").paginate(
                TableName=self._name,
                KeyConditionExpression="pk = :node AND begins_with(sk, :command)",
                ExpressionAttributeValues={":node": {"S": f"NODE#{node}"}, ":command": {"S": items.COMMAND}},
                ConsistentRead=True,
            )
            return [items.from_item(item) for page in pages for item in page["Items"]]


class Ec2Names:
    """See `Names` in `console/node/ports.py`."""

    def __init__(self, client: "EC2Client") -> None:
        """Ask *client*."""
        self._client = client

    def instance_of(self, name: str) -> str | None:
        """See the port."""
        wanted = [
            {"Name": "private-dns-name", "Values": [name]},
            {"Name": "instance-state-name", "Values": ["pending", "running", "stopping", "stopped"]},
        ]
        with asking(f"looking for the instance of {name}"):
            found = self._client.describe_instances(Filters=wanted)["Reservations"]  # type: ignore[arg-type]
        ids = [instance["InstanceId"] for each in found for instance in each["Instances"]]
        return ids[0] if len(ids) == 1 else None

    def cluster_of(self, instance_id: str) -> str | None:
        """See the port. A filter, not InstanceIds: an unknown id is no error."""
        with asking(f"looking for {instance_id}"):
            wanted = [{"Name": "instance-id", "Values": [instance_id]}]
            found = self._client.describe_instances(Filters=wanted)["Reservations"]  # type: ignore[arg-type]
        for instance in (each for one in found for each in one["Instances"]):
            return next((tag["Value"] for tag in instance.get("Tags", ()) if tag["Key"] == CLUSTER_TAG), "")
        return None

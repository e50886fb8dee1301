"""CloudFormation as `relight dlq` asks it: outputs and queues of one stack."""

from dataclasses import replace
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from console.dlq.adapters.asking import asking, error_code
from console.dlq.model import DlqError, Stack

if TYPE_CHECKING:
    from types_boto3_cloudformation import CloudFormationClient

_QUEUE = "AWS::SQS::Queue"


class CloudFormationStacks:
    """See `console/dlq/ports.py`."""

    def __init__(self, client: "CloudFormationClient") -> None:
        """Ask *client*."""
        self._client = client

    def find(self, name: str) -> Stack:
        """See the port."""
        found = self.described(name)
        with asking(f"describing the stack {name}"):
            return replace(found, queue_urls=self._queues(name))

    def described(self, name: str) -> Stack:
        """Return its outputs only, for whoever needs no queue (and has no right to list them)."""
        with asking(f"describing the stack {name}"):
            try:
                found = self._client.describe_stacks(StackName=name)["Stacks"][0]
            except ClientError as error:
                if error_code(error) != "ValidationError":
                    raise
                raise self._missing(name) from None
        return Stack(name, {each["OutputKey"]: each["OutputValue"] for each in found.get("Outputs", [])}, [])

    def _queues(self, name: str) -> list[str]:
        pages = self._client.get_paginator("list_stack_resources").paginate(StackName=name)
        return [
            resource["PhysicalResourceId"]  # Ref of a queue is its URL
            for page in pages
            for resource in page["StackResourceSummaries"]
            if resource["ResourceType"] == _QUEUE and not resource["ResourceStatus"].startswith("DELETE")
        ]

    def _missing(self, name: str) -> DlqError:
        region = self._client.meta.region_name
        return DlqError(
            f"there is no stack {name!r} in {region}.", hint="Name it with --stack, and the region with --region."
        )

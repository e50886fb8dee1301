"""The four tables, with the keys and indexes that `functions/` reads and writes.

Decides keys, streams and how long they outlive the stack. It must not know who may write what (`permissions/` does).
"""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

TTL = "expires"
_TEXT = dynamodb.AttributeType.STRING
_CHANGES = dynamodb.StreamViewType.NEW_AND_OLD_IMAGES
# name -> partition key, sort key
INCIDENT_INDEXES = {
    "by-status": ("cluster_status", "updated_at"),
    "by-node": ("node_key", "opened_at"),
    "by-job": ("job_key", "opened_at"),
}


class Tables(Construct):
    """fleet: what nodes, jobs and budgets are at. incidents: what is being done. policies: what operators want.

    commands: what is asked of nodes, and how it went.
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        """Create the tables: on demand, recoverable to any second of 35 days, kept when the stack goes."""
        super().__init__(scope, construct_id)
        self.fleet = self._table("Fleet", "pk", "sk")
        self.incidents = self._table("Incidents", "pk", "sk", stream=_CHANGES)
        # A person writes its items: one that calls a field `expires` must not have its policy turned off by DynamoDB.
        self.policies = self._table("Policies", "name", "sk", stream=_CHANGES, ttl=None)
        self.commands = self._table("Commands", "pk", "sk")
        for name, (partition, sort) in INCIDENT_INDEXES.items():
            self.incidents.add_global_secondary_index(
                index_name=name, partition_key=_key(partition), sort_key=_key(sort)
            )

    def _table(
        self,
        name: str,
        partition: str,
        sort: str,
        stream: dynamodb.StreamViewType | None = None,
        ttl: str | None = TTL,
    ) -> dynamodb.Table:
        return dynamodb.Table(
            self,
            name,
            partition_key=_key(partition),
            sort_key=_key(sort),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            time_to_live_attribute=ttl,
            stream=stream,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            deletion_protection=True,
            removal_policy=RemovalPolicy.RETAIN,
        )


def _key(name: str) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=name, type=_TEXT)

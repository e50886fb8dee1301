"""The executors' records and what they read of coordinate's, on DynamoDB.

It must not decide whether an act may run (`functions/acts/frame.py` does).
"""

from datetime import datetime
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from functions.adapters import coordination_items as items
from functions.adapters.aws import CONDITION_FAILED, calling, error_code
from functions.ports.acts import ActRecord
from policies.contract.decisions import RungReport
from policies.contract.rungs import Rung
from policies.coordination.incident import Incident
from policies.coordination.leases import Lease

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import AttributeValueTypeDef


class DynamoDBActStore:
    """``ACT#<rung>#<attempt>`` beside the incident's META."""

    def __init__(self, client: "DynamoDBClient", incidents_table: str) -> None:
        """Keep the client and the table's name."""
        self._client = client
        self._table = incidents_table

    def load_incident(self, incident_id: str) -> Incident | None:
        """Return the META document, read consistently."""
        with calling("reading an incident"):
            answer = self._client.get_item(
                TableName=self._table, Key=items.incident_key(incident_id), ConsistentRead=True
            )
        return items.read_incident(answer["Item"]) if "Item" in answer else None

    def load_acts(self, incident_id: str, rung: Rung) -> tuple[ActRecord, ...]:
        """Return the records of *rung*, oldest attempt first; there are as many as attempts, so one page holds them."""
        with calling("reading acts"):
            answer = self._client.query(
                TableName=self._table,
                KeyConditionExpression="pk = :incident AND begins_with(sk, :rung)",
                ExpressionAttributeValues={
                    ":incident": {"S": f"INCIDENT#{incident_id}"},
                    ":rung": {"S": f"ACT#{rung}#"},
                },
                ConsistentRead=True,
            )
        found = (_read(item) for item in answer["Items"])
        return tuple(sorted(found, key=lambda act: act.attempt))

    def intend(self, record: ActRecord) -> ActRecord:
        """Put *record* unless one with its fence or a later one is there; return what stands."""
        try:
            self._put(record, "attribute_not_exists(pk) OR fence < :fence")
        except _StandsError:
            return next(act for act in self.load_acts(record.incident, record.rung) if act.attempt == record.attempt)
        return record

    def report(self, record: ActRecord, report: RungReport, at: datetime) -> None:
        """Put *record* with *report* unless a newer fence wrote there."""
        try:
            self._put(record.model_copy(update={"report": report, "updated_at": at}), "fence = :fence")
        except _StandsError:
            return

    def _put(self, record: ActRecord, condition: str) -> None:
        with calling("keeping an act"):
            try:
                self._client.put_item(
                    TableName=self._table,
                    Item=_item(record),
                    ConditionExpression=condition,
                    ExpressionAttributeValues={":fence": {"N": str(record.fence)}},
                )
            except ClientError as error:
                if error_code(error) != CONDITION_FAILED:
                    raise
                raise _StandsError from None


class DynamoDBLeaseReader:
    """Leases in the fleet table."""

    def __init__(self, client: "DynamoDBClient", fleet_table: str) -> None:
        """Keep the client and the table's name."""
        self._client = client
        self._table = fleet_table

    def load_lease(self, cluster: str, generation: str) -> Lease | None:
        """Return the lease of one node generation, read consistently."""
        with calling("reading a lease"):
            answer = self._client.get_item(
                TableName=self._table, Key=items.lease_key(cluster, generation), ConsistentRead=True
            )
        return Lease.model_validate(items.deserialise(answer["Item"])) if "Item" in answer else None


class _StandsError(Exception):
    """The condition of a put did not hold."""


def _item(record: ActRecord) -> "dict[str, AttributeValueTypeDef]":
    """Return the record's item; the status stands apart, for eyes."""
    key = items.key_of(f"INCIDENT#{record.incident}", f"ACT#{record.rung}#{record.attempt}")
    attributes = {
        "fence": record.fence,
        "rung": str(record.rung),
        "status": str(record.report.status) if record.report else "intended",
        "reason": record.report.reason if record.report else None,
        "document": record.model_dump_json(exclude_none=True),
    }
    return {**key, **items.serialise(attributes)}


def _read(item: "dict[str, AttributeValueTypeDef]") -> ActRecord:
    return ActRecord.model_validate_json(item["document"]["S"])

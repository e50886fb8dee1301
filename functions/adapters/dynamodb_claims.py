"""Claims on replacements: `INSTANCE#<id>` / `CLAIM` in the incidents table, written once."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from functions.adapters.aws import CONDITION_FAILED, calling, error_code
from policies.contract.times import format_time

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient

_KEPT = timedelta(days=30)  # far longer than an incident may stay open


class DynamoClaims:
    """See the port."""

    def __init__(self, client: "DynamoDBClient", incidents_table: str) -> None:
        """Keep the client and the table's name."""
        self._client = client
        self._table = incidents_table

    def claim(self, instance_id: str, incident: str, at: datetime) -> str:
        """See the port. The answer of a lost call is found again: the item names its incident."""
        with calling(f"claiming {instance_id}"):
            try:
                self._client.put_item(
                    TableName=self._table,
                    Item={
                        "pk": {"S": f"INSTANCE#{instance_id}"},
                        "sk": {"S": "CLAIM"},
                        "incident": {"S": incident},
                        "at": {"S": format_time(at)},
                        "expires": {"N": str(int((at + _KEPT).timestamp()))},
                    },
                    ConditionExpression="attribute_not_exists(pk)",
                )
            except ClientError as error:
                if error_code(error) != CONDITION_FAILED:
                    raise
                return self._holder(instance_id)
        return incident

    def _holder(self, instance_id: str) -> str:
        answer = self._client.get_item(
            TableName=self._table,
            Key={"pk": {"S": f"INSTANCE#{instance_id}"}, "sk": {"S": "CLAIM"}},
            ConsistentRead=True,
        )
        return str(answer.get("Item", {}).get("incident", {}).get("S", ""))

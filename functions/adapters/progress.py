"""How jobs go, in the fleet table: the item of the fact document ``job``, with ``at`` in milliseconds beside it.

It must not look into the documents.
"""

from datetime import datetime
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from functions.adapters.aws import CONDITION_FAILED, calling, error_code
from functions.ports.facts import FactKey
from policies.facts.registry import DOCUMENTS

if TYPE_CHECKING:  # the runtime has no type stand-ins for boto3
    from types_boto3_dynamodb import DynamoDBClient


class DynamoProgress:
    """See `functions/ports/progress.py`."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        """Write *table*, the fleet table."""
        self._client = client
        self._table = table

    def keep_newest(self, key: FactKey, text: str, at: datetime, expires: datetime) -> None:
        """See the port."""
        milliseconds = str(int(at.timestamp() * 1000))
        with calling(f"keeping how {key.subject} goes"):
            try:
                self._client.put_item(
                    TableName=self._table,
                    Item={
                        "pk": {"S": f"CLUSTER#{key.cluster}"},
                        "sk": {"S": DOCUMENTS[key.document].sort_key(key.subject)},
                        "document": {"S": text},
                        "at": {"N": milliseconds},
                        "expires": {"N": str(int(expires.timestamp()))},
                    },
                    ConditionExpression="attribute_not_exists(#at) OR #at < :at",
                    ExpressionAttributeNames={"#at": "at"},
                    ExpressionAttributeValues={":at": {"N": milliseconds}},
                )
            except ClientError as error:
                if error_code(error) != CONDITION_FAILED:
                    raise

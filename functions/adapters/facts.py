"""The documents of facts in the fleet table: ``CLUSTER#<c>`` / what `FactDocument.sort_key` says, with ``document``.

They are read consistently: whoever was told that a person has a node in hand must find it. It must not look into them.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from functions.adapters.aws import calling
from functions.adapters.batch_get import batch_get
from functions.ports.facts import FactKey
from policies.facts.registry import DOCUMENTS

if TYPE_CHECKING:  # the runtime has no type stand-ins for boto3
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import AttributeValueTypeDef


class DynamoFacts:
    """See `functions/ports/facts.py`."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        """Read and write *table*, the fleet table."""
        self._client = client
        self._table = table

    def read(self, keys: Collection[FactKey]) -> Mapping[FactKey, str]:
        """See the port."""
        places = {(f"CLUSTER#{key.cluster}", _sort_key(key)): key for key in keys}
        wanted = [(self._table, _item_key(key)) for key in places.values()]
        read = batch_get(self._client, wanted, "reading facts", ConsistentRead=True)
        found = ((places[item["pk"]["S"], item["sk"]["S"]], item) for _, item in read)
        # An item whose document is no text is there all the same: nobody must take it for one that was never written.
        return {key: item.get("document", {}).get("S", "") for key, item in found}

    def keep(self, key: FactKey, text: str, expires: datetime) -> None:
        """See the port."""
        item = {**_item_key(key), "document": {"S": text}, "expires": {"N": str(int(expires.timestamp()))}}
        with calling(f"keeping the {key.document} of {key.subject or key.cluster}"):
            self._client.put_item(TableName=self._table, Item=item)


def _sort_key(key: FactKey) -> str:
    return DOCUMENTS[key.document].sort_key(key.subject)


def _item_key(key: FactKey) -> "dict[str, AttributeValueTypeDef]":
    return {"pk": {"S": f"CLUSTER#{key.cluster}"}, "sk": {"S": _sort_key(key)}}

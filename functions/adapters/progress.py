"""How jobs go, in the fleet table: the item of the fact document ``job``, with ``at`` in milliseconds beside it.

It must not look into the documents.
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from functions.adapters.aws import CONDITION_FAILED, calling, error_code
from functions.adapters.node_states import WORKERS
from functions.ports.facts import FactKey
from functions.ports.progress import Word
from policies.contract.errors import DependencyError
from policies.facts.registry import DOCUMENTS

if TYPE_CHECKING:  # the runtime has no type stand-ins for boto3
    from types_boto3_dynamodb import DynamoDBClient


class DynamoProgress:
    """See `functions/ports/progress.py`."""

    def __init__(self, client: "DynamoDBClient", table: str) -> None:
        """Write *table*, the fleet table; the client needs a connection pool of `WORKERS`."""
        self._client = client
        self._table = table

    def keep_newest(self, words: Mapping[FactKey, Word]) -> Mapping[FactKey, DependencyError]:
        """See the port. Many go side by side: DynamoDB has no conditional batch."""
        if not words:
            return {}
        with ThreadPoolExecutor(min(WORKERS, len(words))) as pool:
            outcomes = list(pool.map(self._keep, words, words.values()))
        return {key: error for key, error in zip(words, outcomes, strict=True) if error}

    def _keep(self, key: FactKey, word: Word) -> DependencyError | None:
        try:
            with calling(f"keeping how {key.subject} goes"):
                self._put(key, word)
        except DependencyError as error:
            return error
        return None

    def _put(self, key: FactKey, word: Word) -> None:
        milliseconds = str(int(word.at.timestamp() * 1000))
        try:
            self._client.put_item(
                TableName=self._table,
                Item={
                    "pk": {"S": f"CLUSTER#{key.cluster}"},
                    "sk": {"S": DOCUMENTS[key.document].sort_key(key.subject)},
                    "document": {"S": word.text},
                    "at": {"N": milliseconds},
                    "expires": {"N": str(int(word.expires.timestamp()))},
                },
                ConditionExpression="attribute_not_exists(#at) OR #at < :at",
                ExpressionAttributeNames={"#at": "at"},
                ExpressionAttributeValues={":at": {"N": milliseconds}},
            )
        except ClientError as error:
            if error_code(error) != CONDITION_FAILED:
                raise

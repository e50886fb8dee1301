"""Reads many items of DynamoDB by key: a hundred a call, and again what an answer left unread.

Keys are left unread where a table is throttled (DynamoDB API reference, BatchGetItem). To the client such an answer is
a good one, so the backing off is here. It must not know what an item means.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from functions.adapters.aws import calling
from policies.contract.errors import DependencyError

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import AttributeValueTypeDef

    Item = Mapping[str, AttributeValueTypeDef]

KEYS_PER_CALL = 100  # DynamoDB quotas
TRIES = 6
_FIRST_PAUSE_SECONDS = 0.05  # doubled each time: about a second and a half altogether


def batch_get(
    client: "DynamoDBClient", wanted: "Sequence[tuple[str, Item]]", what: str, **options: object
) -> "Iterator[tuple[str, Item]]":
    """Yield table and item of what there is of *wanted*, tables and keys, in no order.

    *what* names the read in errors; *options* are those of a table in BatchGetItem (``ConsistentRead``).

    Raises:
        DependencyError: DynamoDB refused, or keys stayed unread.
    """
    for start in range(0, len(wanted), KEYS_PER_CALL):
        request: dict[str, Any] = {}
        for table, key in wanted[start : start + KEYS_PER_CALL]:
            request.setdefault(table, {"Keys": [], **options})["Keys"].append(key)
        yield from _read(client, request, what)


def _read(client: "DynamoDBClient", request: dict[str, Any], what: str) -> "Iterator[tuple[str, Item]]":
    for attempt in range(TRIES):
        if attempt:
            time.sleep(_FIRST_PAUSE_SECONDS * 2 ** (attempt - 1))
        with calling(what):
            answer = client.batch_get_item(RequestItems=request)
        for table, items in answer["Responses"].items():
            yield from ((table, item) for item in items)
        request = dict(answer.get("UnprocessedKeys", {}))
        if not request:
            return
    raise DependencyError(f"{what}: DynamoDB left keys unread.", hint="The table is throttled; it is tried again.")

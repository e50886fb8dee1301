"""Node states in the fleet table: ``CLUSTER#<c>`` / ``NODE#<instance>#window`` with ``doc``, ``version``, ``expires``.

It must not look into a state. Each commit is one conditional write; many go side by side, since DynamoDB has no
conditional batch and a transaction would cost twice and fail together.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from functions.adapters.aws import CONDITION_FAILED, calling, error_code
from functions.adapters.batch_get import batch_get
from functions.ports.triage import Commit, NodeKey, StoredState
from policies.contract.errors import DependencyError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import AttributeValueTypeDef

    Item = Mapping[str, AttributeValueTypeDef]

WORKERS = 16
KEPT = timedelta(days=14)


class DynamoNodeStates:
    """See `functions/ports/triage.py`."""

    def __init__(self, client: DynamoDBClient, table: str) -> None:
        """Use *table*; the client needs a connection pool of `WORKERS`."""
        self._client = client
        self._table = table

    def load(self, keys: Collection[NodeKey], now: datetime) -> Mapping[NodeKey, StoredState]:
        """See the port."""
        wanted = [(self._table, _key(key)) for key in keys]
        read = batch_get(self._client, wanted, "reading node states", ConsistentRead=True)
        found = {_node(item): _stored(item, now) for _, item in read}
        return {key: found.get(key, StoredState()) for key in keys}

    def commit(self, states: Mapping[NodeKey, StoredState], now: datetime) -> Commit:
        """See the port."""
        if not states:
            return Commit()
        with ThreadPoolExecutor(min(WORKERS, len(states))) as pool:
            outcomes = dict(zip(states, pool.map(lambda key: self._write(key, states[key], now), states), strict=True))
        return Commit(
            conflicts=frozenset(key for key, outcome in outcomes.items() if outcome == CONDITION_FAILED),
            failed={key: outcome for key, outcome in outcomes.items() if isinstance(outcome, DependencyError)},
        )

    def _write(self, key: NodeKey, state: StoredState, now: datetime) -> str | DependencyError:
        item: Item = {
            **_key(key),
            "doc": {"S": state.text},
            "version": {"N": str(state.version + 1)},
            "expires": {"N": str(int((now + KEPT).timestamp()))},
        }
        try:
            with calling(f"writing the state of {key.instance_id}"):
                self._put(item, state.version)
        except DependencyError as error:
            cause = error.__cause__
            conflict = isinstance(cause, ClientError) and error_code(cause) == CONDITION_FAILED
            return CONDITION_FAILED if conflict else error
        return ""

    def _put(self, item: Item, version: int) -> None:
        if version == 0:
            self._client.put_item(TableName=self._table, Item=item, ConditionExpression="attribute_not_exists(pk)")
            return
        self._client.put_item(
            TableName=self._table,
            Item=item,
            ConditionExpression="#version = :version",
            ExpressionAttributeNames={"#version": "version"},
            ExpressionAttributeValues={":version": {"N": str(version)}},
        )


def _key(key: NodeKey) -> dict[str, AttributeValueTypeDef]:
    return {"pk": {"S": f"CLUSTER#{key.cluster}"}, "sk": {"S": f"NODE#{key.instance_id}#window"}}


def _node(item: Item) -> NodeKey:
    cluster = item["pk"]["S"].removeprefix("CLUSTER#")
    return NodeKey(cluster, item["sk"]["S"].removeprefix("NODE#").removesuffix("#window"))


def _stored(item: Item, now: datetime) -> StoredState:
    left = int(item["expires"]["N"]) - now.timestamp()
    return StoredState(item["doc"]["S"], int(item["version"]["N"]), ages=left < KEPT.total_seconds() / 2)

"""What the wiring of the six executors has in common: the acts in the frame, on the tables and the clock.

It must not know which acts an executor has, nor make clients: a handler does.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from functions.acts.act import Act
from functions.acts.executor import Executor, ExecutorSettings
from functions.adapters.acts import DynamoDBActStore, DynamoDBLeaseReader
from policies.contract.rungs import Rung

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient


def executor_of(acts: Mapping[Rung, Act], settings: ExecutorSettings, dynamodb: "DynamoDBClient") -> Executor:
    """Return the executor of *acts* on the tables that *settings* name."""
    return Executor(
        acts=acts,
        incidents=DynamoDBActStore(dynamodb, settings.incidents_table),
        leases=DynamoDBLeaseReader(dynamodb, settings.fleet_table),
        clusters=settings.clusters,
        clock=lambda: datetime.now(UTC),
    )

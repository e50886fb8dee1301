"""Coordinate's store on DynamoDB: one BatchGetItem for a batch of messages, one conditional put a document.

It must not decide; what it writes is as conditional as its twin's.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from botocore.exceptions import ClientError

from functions.adapters import coordination_items as items
from functions.adapters.aws import CONDITION_FAILED, calling, error_code
from functions.adapters.batch_get import batch_get
from policies.contract.times import format_time
from policies.coordination.budgets import Budget
from policies.coordination.holds import Job
from policies.coordination.incident import Incident, latest_lines
from policies.coordination.leases import Lease
from policies.coordination.snapshot import AnyChange, ConflictError, Document, Keys, Snapshot
from policies.coordination.states import IncidentStatus
from policies.coordination.windows import Window
from policies.facts.history import History
from policies.facts.recent import Recent
from policies.precision.misses import MISSES_KEY, Misses
from policies.precision.record import Record

if TYPE_CHECKING:
    from types_boto3_dynamodb import DynamoDBClient
    from types_boto3_dynamodb.type_defs import AttributeValueTypeDef

    Item = dict[str, AttributeValueTypeDef]

Kept = TypeVar("Kept", History, Recent, Record, Misses)
_WHOSE = frozenset({"cluster", "instance", "policy"})
LOG = logging.getLogger(__name__)
_MOST_OPERANDS = 100  # of an IN (DynamoDB developer guide, "Comparison operator and function reference")
_MOST_PAGES = 8  # of 1 MB: some hundred incidents each, of an hour
MOST_DENIED = 200  # more faults under a no within an hour are one storm, and somebody has been asked of it
MOST_RUNNING = 2000  # incidents a sweep looks at; more at once is not a fleet's bad day but a bad policy


class DynamoDBCoordinationStore:
    """Leases, jobs, budgets and windows in *fleet_table*, incidents in *incidents_table*."""

    def __init__(self, client: "DynamoDBClient", *, fleet_table: str, incidents_table: str) -> None:
        """Keep the client, which threads may share, and the tables' names."""
        self._client = client
        self._fleet = fleet_table
        self._incidents = incidents_table

    def read(self, cluster: str, keys: Keys) -> Snapshot:
        """Return the documents that *keys* name, read consistently."""
        wanted = [
            *((self._incidents, items.incident_key(each)) for each in sorted(keys.incidents)),
            *((self._fleet, items.lease_key(cluster, each)) for each in sorted(keys.leases)),
            *((self._fleet, items.job_key(cluster, each)) for each in sorted(keys.jobs)),
            *((self._fleet, items.budget_key(cluster, each)) for each in sorted(keys.budgets)),
            *((self._fleet, items.window_key(cluster, each)) for each in sorted(keys.windows)),
            *((self._fleet, items.history_key(cluster, each)) for each in sorted(keys.histories)),
            *((self._fleet, items.recent_key(cluster)) for _ in keys.recents),
            *((self._fleet, items.record_item_key(cluster, each)) for each in sorted(keys.records)),
            *((self._fleet, items.misses_item_key(cluster)) for _ in keys.misses),
        ]
        found: dict[str, list[Item]] = {self._incidents: [], self._fleet: []}
        for table, item in batch_get(self._client, wanted, "reading coordinate's documents", ConsistentRead=True):
            found[table].append(dict(item))
        incidents = [_readable(item) for item in found[self._incidents]]
        mine = {each.id: each for each in incidents if each and each.cluster == cluster}
        snapshot = _snapshot(cluster, mine, [items.deserialise(item) for item in found[self._fleet]])
        asked = Snapshot(
            cluster,
            histories=dict.fromkeys(keys.histories),
            recents=dict.fromkeys(keys.recents),
            records=dict.fromkeys(keys.records),
            misses=dict.fromkeys(keys.misses),
        )
        return asked.merged(snapshot)

    def list_running(self, cluster: str) -> tuple[str, ...]:
        """Return open and not parked ids of the index by status, longest unchanged first; it lags by moments."""
        return self._list(cluster, "#named <> :value", "status", {":value": IncidentStatus.PARKED})

    def list_denied(self, cluster: str, since: datetime) -> tuple[str, ...]:
        """Return the ids of the same index that say for which no they were recorded; the latest where they are many."""
        pages = self._client.get_paginator("query").paginate(
            TableName=self._incidents,
            IndexName="by-status",
            KeyConditionExpression="cluster_status = :closed AND updated_at > :since",
            FilterExpression="attribute_exists(denied)",
            ExpressionAttributeValues={":closed": {"S": f"{cluster}#closed"}, ":since": {"S": format_time(since)}},
            ProjectionExpression="pk",
            ScanIndexForward=False,
        )
        with calling("listing incidents"):
            found = (item["pk"]["S"] for page in islice(pages, _MOST_PAGES) for item in page["Items"])
            return tuple(sorted(each.removeprefix("INCIDENT#") for each in islice(found, MOST_DENIED)))

    def list_open(self, cluster: str, jobs: Collection[str]) -> tuple[str, ...]:
        """Return the open ids of *jobs*, by the same index and in one reading of it, however many they are.

        Few incidents are open at a time; the index by job has all that a run ever had, and none is ever forgotten.
        """
        keys = [f"{cluster}#{items.fitting(job)}" for job in sorted(jobs)]
        found: list[str] = []
        for start in range(0, len(keys), _MOST_OPERANDS):
            values = {f":job{number}": key for number, key in enumerate(keys[start : start + _MOST_OPERANDS])}
            found += self._list(cluster, f"#named IN ({', '.join(values)})", "job_key", values)
        return tuple(found)

    def _list(self, cluster: str, condition: str, named: str, values: Mapping[str, str]) -> tuple[str, ...]:
        pages = self._client.get_paginator("query").paginate(
            TableName=self._incidents,
            IndexName="by-status",
            KeyConditionExpression="cluster_status = :open",
            FilterExpression=condition,
            ExpressionAttributeNames={"#named": named},
            ExpressionAttributeValues={
                ":open": {"S": f"{cluster}#open"},
                **{name: {"S": value} for name, value in values.items()},
            },
            ProjectionExpression="pk",
        )
        with calling("listing incidents"):
            found = (item["pk"]["S"].removeprefix("INCIDENT#") for page in pages for item in page["Items"])
            return tuple(islice(found, MOST_RUNNING))

    def write(self, change: AnyChange) -> None:
        """Put ``after`` on the condition that the stored version is ``before``'s."""
        table, item = self._item_of(change.after)
        condition: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(pk)"}
        if change.before and change.before.version == 0:  # what is broken may have none, or one that is no number
            condition = {
                "ConditionExpression": "attribute_not_exists(version) OR NOT attribute_type(version, :number)",
                "ExpressionAttributeValues": {":number": {"S": "N"}},
            }
        elif change.before:
            condition = {
                "ConditionExpression": "version = :read",
                "ExpressionAttributeValues": {":read": {"N": str(change.before.version)}},
            }
        name = type(change.after).__name__
        with calling(f"writing a {name.lower()}"):
            try:
                self._client.put_item(TableName=table, Item=item, **condition)
            except ClientError as error:
                if error_code(error) != CONDITION_FAILED:
                    raise
                raise ConflictError(f"{name} changed meanwhile.", hint="Read and decide again.") from None

    def write_lines(self, incident: Incident) -> None:
        """Put the newest timeline items; they are the same whoever puts them."""
        with calling("writing the timeline"):
            for entry in latest_lines(incident):
                self._client.put_item(TableName=self._incidents, Item=items.line_item(incident, entry))

    def _item_of(self, document: Document) -> "tuple[str, Item]":
        if isinstance(document, Incident):
            return self._incidents, items.incident_item(document)
        return self._fleet, _ITEMS[type(document)](document)


_ITEMS: Mapping[type[Any], Callable[[Any], "Item"]] = {
    Lease: items.lease_item,
    Job: items.job_item,
    Budget: items.budget_item,
    Window: items.window_item,
    History: items.history_item,
    Recent: items.recent_item,
    Record: items.record_item,
    Misses: items.misses_item,
}
"""How each document of the fleet table is written."""


def _readable(item: "Item") -> Incident | None:
    """Return the incident, or None for a document that somebody broke: its messages fail, those of others do not."""
    try:
        return items.read_incident(item)
    except (ValueError, KeyError):
        LOG.exception("incident %s cannot be read; restore its item", item["pk"].get("S"))
        return None


def _kept(model: type[Kept], item: Mapping[str, Any], empty: Kept) -> Kept:
    """Return what is kept of the past; a document that somebody broke is begun anew, since decisions must go on.

    Whose it is and which version it has the item says, and not what somebody may have pasted into it: a write that
    relied on that would conflict for ever.
    """
    version = item.get("version")
    number = int(version) if isinstance(version, Decimal) else 0
    try:
        known = model.model_validate_json(str(item["document"]))
    except (ValueError, KeyError):
        LOG.exception("%s %s cannot be read and is begun anew", item["pk"], item["sk"])
        known = empty
    whose = {name: getattr(empty, name) for name in _WHOSE & model.model_fields.keys()}
    return known.model_copy(update={**whose, "version": number})


def _snapshot(cluster: str, incidents: dict[str, Incident], fleet: Iterable[dict[str, Any]]) -> Snapshot:
    leases: dict[str, Lease] = {}
    jobs: dict[str, Job] = {}
    budgets: dict[str, Budget] = {}
    windows: dict[str, Window] = {}
    histories: dict[str, History | None] = {}
    recents: dict[str, Recent | None] = {}
    records: dict[str, Record | None] = {}
    misses: dict[str, Misses | None] = {}
    for item in fleet:
        kind = str(item["sk"]).split("#", 1)[0]
        if kind == "NODE" and str(item["sk"]).endswith("#history"):
            instance = str(item["sk"]).removeprefix("NODE#").removesuffix("#history")
            histories[instance] = _kept(History, item, History(cluster=cluster, instance=instance))
        elif kind == "RECENT":
            recents[""] = _kept(Recent, item, Recent(cluster=cluster))
        elif kind == "POLICY":
            policy = str(item["sk"]).removeprefix("POLICY#").removesuffix("#record")
            records[policy] = _kept(Record, item, Record(cluster=cluster, policy=policy))
        elif kind == MISSES_KEY:
            misses[""] = _kept(Misses, item, Misses(cluster=cluster))
        elif kind == "NODE":
            leases[item["generation"]] = Lease.model_validate(item)
        elif kind == "JOB":
            jobs[item["id"]] = Job.model_validate(item)
        elif kind == "WINDOW":
            windows[item["key"]] = Window.model_validate_json(item["document"])
        else:
            budgets[item["scope"]] = Budget.model_validate(item)
    return Snapshot(
        cluster,
        incidents,
        leases,
        jobs,
        budgets,
        windows=windows,
        histories=histories,
        recents=recents,
        records=records,
        misses=misses,
    )

"""Coordinate's documents as DynamoDB items: keys, attributes a person can read, and the whole document.

An incident is kept as JSON in ``document`` (its facts have any shape); beside it stand what indexes, alerts and eyes
need.
Windows too. Leases, jobs and budgets are plain attributes. It must not call DynamoDB.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer

from policies.contract.identifiers import stable_id
from policies.contract.times import format_time
from policies.coordination.budgets import Budget
from policies.coordination.denying import DENIED, is_recorded_for_a_no
from policies.coordination.holds import Job
from policies.coordination.incident import Incident
from policies.coordination.leases import Lease
from policies.coordination.notes import Entry
from policies.coordination.windows import Window
from policies.facts.history import HISTORY, History
from policies.facts.job import JOB, fits_key
from policies.facts.recent import RECENT, Recent
from policies.precision.misses import MISSES_KEY, Misses
from policies.precision.record import Record, record_key

if TYPE_CHECKING:  # the annotations of boto3 come with the development tools only
    from types_boto3_dynamodb.type_defs import AttributeValueTypeDef

    Item = Mapping[str, AttributeValueTypeDef]

# A released lease still tells late news from new faults; after this an execution's name is free again, too.
KEPT_SECONDS = 90 * 86400
HISTORY_KEPT_SECONDS = 29 * 86400  # nobody asks for more than 28 days
RECENT_KEPT_SECONDS = 86400
RECORD_KEPT_SECONDS = 91 * 86400  # nobody asks for more than 90 days
WINDOWS_KEPT_SECONDS = 14 * 86400
_HOW_IT_GOES = JOB.sort_key("").removeprefix("JOB#")
_TO = TypeSerializer()
_FROM = TypeDeserializer()


def key_of(pk: str, sk: str) -> "dict[str, AttributeValueTypeDef]":
    """Return a key of one of the two tables."""
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def fitting(name: str) -> str:
    """Return *name* as it stands in a key: a job may be called what has more bytes than a key takes."""
    return name if fits_key(name) else stable_id("key", name)


def incident_key(incident: str) -> "dict[str, AttributeValueTypeDef]":
    """Return where an incident's META lies in the incidents table."""
    return key_of(f"INCIDENT#{incident}", "META")


def lease_key(cluster: str, generation: str) -> "dict[str, AttributeValueTypeDef]":
    """Return where a lease lies in the fleet table."""
    return key_of(f"CLUSTER#{cluster}", f"NODE#{fitting(generation)}#lease")


def job_key(cluster: str, job: str) -> "dict[str, AttributeValueTypeDef]":
    """Return where a job's holds lie in the fleet table.

    Of a job that is called so that this would be where it is kept how another one goes, the name is not readable.
    """
    name = stable_id("key", job) if job.endswith(_HOW_IT_GOES) else fitting(job)
    return key_of(f"CLUSTER#{cluster}", f"JOB#{name}")


def budget_key(cluster: str, scope: str) -> "dict[str, AttributeValueTypeDef]":
    """Return where a budget lies in the fleet table."""
    return key_of(f"CLUSTER#{cluster}", f"BUDGET#{scope}")


def incident_item(incident: Incident) -> "dict[str, AttributeValueTypeDef]":
    """Return META. The task token stands apart from the document: what is shown or sent on never holds it."""
    last = incident.timeline[-1] if incident.timeline else None
    attributes = {
        "version": incident.version,
        "cluster": incident.cluster,
        "cluster_status": f"{incident.cluster}#{'open' if incident.status.is_open else 'closed'}",
        "node_key": f"{incident.cluster}#{incident.node.instance_id}",
        "job_key": f"{incident.cluster}#{fitting(incident.job.id)}" if incident.job else None,
        "opened_at": format_time(incident.opened_at),
        "updated_at": format_time(incident.updated_at),
        "deadline": format_time(incident.deadline),
        "status": str(incident.status),
        "stage": last.stage if last else None,
        "policy": incident.policy.name,
        "revision": incident.policy.revision,
        "node": incident.node.name,
        "generation": incident.generation,
        "rung": str(incident.current.rung) if incident.current else None,
        "attempt": incident.attempt,
        "execution": incident.execution,
        "reason": incident.reason or None,
        "outcome": incident.outcome or None,
        "denied": incident.facts[DENIED] if is_recorded_for_a_no(incident) else None,
        "task_token": incident.ask.token if incident.ask else None,
        "document": incident.model_dump_json(exclude_none=True, exclude={"ask": {"token"}}),
    }
    return {**incident_key(incident.id), **serialise(attributes)}


def read_incident(item: "Item") -> Incident:
    """Return the incident in a META item, or in a stream image of one."""
    incident = Incident.model_validate_json(item["document"]["S"])
    if incident.ask and "task_token" in item:
        ask = incident.ask.model_copy(update={"token": item["task_token"]["S"]})
        return incident.model_copy(update={"ask": ask})
    return incident


def line_item(incident: Incident, entry: Entry) -> "dict[str, AttributeValueTypeDef]":
    """Return ``T#<number>`` of the timeline."""
    key = key_of(f"INCIDENT#{incident.id}", f"T#{entry.number:08d}")
    return {**key, **serialise(entry.model_dump(mode="json"))}


def lease_item(lease: Lease) -> "dict[str, AttributeValueTypeDef]":
    """Return a lease; only a released one is ever forgotten by the table."""
    let_go = lease.released_at or (None if lease.incident else lease.expires_at)
    expires = int(let_go.timestamp()) + KEPT_SECONDS if let_go else None
    attributes = {**lease.model_dump(mode="json"), "status": "released" if lease.released else "held"}
    return {**lease_key(lease.cluster, lease.generation), **serialise({**attributes, "expires": expires})}


def job_item(job: Job) -> "dict[str, AttributeValueTypeDef]":
    """Return a job's holds."""
    return {**job_key(job.cluster, job.id), **serialise(job.model_dump(mode="json"))}


def budget_item(budget: Budget) -> "dict[str, AttributeValueTypeDef]":
    """Return a budget's reservations."""
    return {**budget_key(budget.cluster, budget.scope), **serialise(budget.model_dump(mode="json"))}


def window_key(cluster: str, window: str) -> "dict[str, AttributeValueTypeDef]":
    """Return where what is counted in one scope lies in the fleet table."""
    return key_of(f"CLUSTER#{cluster}", f"WINDOW#{fitting(window)}")


def window_item(window: Window) -> "dict[str, AttributeValueTypeDef]":
    """Return a window, as JSON like an incident; one that nothing was added to for so long is of no use to anybody."""
    attributes = {
        "version": window.version,
        "cluster": window.cluster,
        "key": window.key,
        "expires": window.newest // 1000 + WINDOWS_KEPT_SECONDS,
        "document": window.model_dump_json(exclude_none=True),
    }
    return {**window_key(window.cluster, window.key), **serialise(attributes)}


def history_key(cluster: str, instance: str) -> "dict[str, AttributeValueTypeDef]":
    """Return where what befell a node lies in the fleet table."""
    return key_of(f"CLUSTER#{cluster}", HISTORY.sort_key(instance))


def history_item(history: History) -> "dict[str, AttributeValueTypeDef]":
    """Return a node's history: triage reads it as one of the documents of facts."""
    return _kept_item(
        history_key(history.cluster, history.instance),
        history,
        (each.at for each in history.past),
        HISTORY_KEPT_SECONDS,
    )


def recent_key(cluster: str) -> "dict[str, AttributeValueTypeDef]":
    """Return where the faults of the hour lie in the fleet table."""
    return key_of(f"CLUSTER#{cluster}", RECENT.sort_key(""))


def recent_item(recent: Recent) -> "dict[str, AttributeValueTypeDef]":
    """Return the faults of the hour."""
    return _kept_item(recent_key(recent.cluster), recent, (each.at for each in recent.signs), RECENT_KEPT_SECONDS)


def record_item(record: Record) -> "dict[str, AttributeValueTypeDef]":
    """Return what a policy did to hardware and what is known of that."""
    return _kept_item(
        record_item_key(record.cluster, record.policy), record, (each.at for each in record.acts), RECORD_KEPT_SECONDS
    )


def record_item_key(cluster: str, policy: str) -> "dict[str, AttributeValueTypeDef]":
    """Return where the acts of *policy* in *cluster* lie in the fleet table."""
    return key_of(f"CLUSTER#{cluster}", record_key(policy))


def misses_item(misses: Misses) -> "dict[str, AttributeValueTypeDef]":
    """Return the restarts that a cluster knows of."""
    return _kept_item(
        misses_item_key(misses.cluster), misses, (each.at for each in misses.restarts), RECORD_KEPT_SECONDS
    )


def misses_item_key(cluster: str) -> "dict[str, AttributeValueTypeDef]":
    """Return where the restarts of *cluster* lie in the fleet table."""
    return key_of(f"CLUSTER#{cluster}", MISSES_KEY)


def _kept_item(
    key: "Item", kept: History | Recent | Record | Misses, moments: Iterable[datetime], seconds: int
) -> "dict[str, AttributeValueTypeDef]":
    """Return what is *kept* of the past, as JSON in ``document``, until *seconds* after the last of its *moments*."""
    last = max((each.timestamp() for each in moments), default=0.0)
    attributes = {
        "version": kept.version,
        "expires": int(last) + seconds,
        "document": kept.model_dump_json(exclude_defaults=True),
    }
    return {**key, **serialise(attributes)}


def serialise(attributes: Mapping[str, Any]) -> "dict[str, AttributeValueTypeDef]":
    """Return *attributes* (texts, whole numbers, flags, lists, maps) as DynamoDB's, without those that are None."""
    return {name: _TO.serialize(value) for name, value in attributes.items() if value is not None}


def deserialise(item: "Item") -> dict[str, Any]:
    """Return the plain attributes of *item*; numbers come as Decimal, which models take for whole numbers."""
    return {name: _FROM.deserialize(value) for name, value in item.items()}

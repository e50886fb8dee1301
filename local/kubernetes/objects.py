"""The shape of a Kubernetes object here: plain JSON, and the few paths that everybody reads.

It must not know the store or HTTP.
"""

from datetime import UTC, datetime
from typing import Any

Obj = dict[str, Any]
"""One object as JSON: {apiVersion, kind, metadata, spec, status}."""


def timestamp(moment: datetime) -> str:
    """The time as Kubernetes writes it: RFC 3339, whole seconds, UTC."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def name_of(obj: Obj) -> str:
    return str(obj["metadata"]["name"])


def namespace_of(obj: Obj) -> str:
    """The namespace; empty for an object of the cluster."""
    return str(obj["metadata"].get("namespace", ""))


def is_terminating(obj: Obj) -> bool:
    return "deletionTimestamp" in obj["metadata"]


def owner_uids(obj: Obj) -> set[str]:
    return {str(owner["uid"]) for owner in obj["metadata"].get("ownerReferences", [])}


def condition(obj: Obj, kind: str) -> Obj | None:
    """The condition of this type in the status; None when it was never set."""
    found: list[Obj] = [entry for entry in obj.get("status", {}).get("conditions", []) if entry["type"] == kind]
    return found[0] if found else None


def has_condition(obj: Obj, kind: str) -> bool:
    found = condition(obj, kind)
    return found is not None and found["status"] == "True"


def set_condition(obj: Obj, wanted: Obj, at: datetime) -> None:
    """Put {type, status, reason, message} into the status; lastTransitionTime moves only when the status does."""
    conditions: list[Obj] = obj.setdefault("status", {}).setdefault("conditions", [])
    old = condition(obj, wanted["type"])
    if old is None:
        conditions.append({**wanted, "lastTransitionTime": timestamp(at)})
        return
    if old["status"] != wanted["status"]:
        old["lastTransitionTime"] = timestamp(at)
    old.update(wanted)

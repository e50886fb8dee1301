"""The objects of the cluster, with the rules of a write: versions, uids, generations, preconditions, finalizers.

It knows nothing of HTTP, and of kinds only what `resources` says; what is special about pods stands in `pods`.
"""

import copy
import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from local.kubernetes.errors import already_exists, conflict, invalid, not_found
from local.kubernetes.history import Change, History
from local.kubernetes.objects import Obj, is_terminating, timestamp
from local.kubernetes.resources import ResourceType
from local.kubernetes.selectors import Selector, everything

Key = tuple[ResourceType, str, str]
_STALE = "the object has been modified; please apply your changes to the latest version and try again"
# What a client cannot change once the object is there.
_FIXED = (
    *("name", "namespace", "uid", "generation"),
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
)


@dataclass(frozen=True, slots=True)
class Preconditions:
    """What must still hold for a delete to happen; None asks nothing."""

    uid: str | None = None
    resource_version: str | None = None


class Store:
    """Thread-safe. Whatever goes in or out is a copy."""

    def __init__(self, *, now: Callable[[], datetime], new_uid: Callable[[], str] = lambda: str(uuid4())) -> None:
        self.now = now
        self._new_uid = new_uid
        self._lock = threading.RLock()
        self.history = History(threading.Condition(self._lock))
        self._objects: dict[Key, Obj] = {}
        self._version = 0
        self._suffixes = itertools.count(1)

    def version(self) -> str:
        """The version of the newest write."""
        return str(self._version)

    def get(self, kind: ResourceType, namespace: str, name: str) -> Obj:
        with self._lock:
            return copy.deepcopy(self._current(kind, namespace, name))

    def select(self, kind: ResourceType, namespace: str = "", where: Selector = everything) -> tuple[list[Obj], str]:
        """The objects (of all namespaces when *namespace* is empty) and the version at which the list was true."""
        with self._lock:
            keys = sorted(key for key in self._objects if key[0] is kind and namespace in ("", key[1]))
            found = [self._objects[key] for key in keys if where(self._objects[key])]
            return copy.deepcopy(found), self.version()

    def create(self, kind: ResourceType, namespace: str, obj: Obj) -> Obj:
        """Add *obj*; AlreadyExists, or Invalid when it has no name."""
        new = copy.deepcopy(obj)
        meta = new.setdefault("metadata", {})
        with self._lock:
            if not meta.get("name"):
                meta["name"] = self._generate_name(kind, meta)
            key = (kind, namespace, str(meta["name"]))
            if key in self._objects:
                raise already_exists(kind, key[2])
            self._stamp(kind, namespace, new)
            return self._write(key, None, new)

    def _generate_name(self, kind: ResourceType, meta: Obj) -> str:
        if not meta.get("generateName"):
            raise invalid(kind, "", "metadata.name: Required value: name or generateName is required")
        return f"{meta['generateName']}{next(self._suffixes):05d}"

    def _stamp(self, kind: ResourceType, namespace: str, new: Obj) -> None:
        new["apiVersion"], new["kind"] = kind.api_version, kind.kind
        meta = new["metadata"]
        meta.update(uid=self._new_uid(), creationTimestamp=timestamp(self.now()))
        if kind.namespaced:
            meta["namespace"] = namespace
        if kind.counts_generation:
            meta["generation"] = 1

    def update(
        self, kind: ResourceType, namespace: str, name: str, change: Callable[[Obj], Obj], *, subresource: str = ""
    ) -> Obj:
        """Replace the object by what *change* makes of it (its argument is a copy).

        A `metadata.resourceVersion` or `uid` in the result that is not the current one is a Conflict. `subresource`
        "status" changes only the status, "" everything but the status where the kind has that subresource.
        """
        with self._lock:
            old = self._current(kind, namespace, name)
            new = change(copy.deepcopy(old))
            _check(kind, name, old, Preconditions(new["metadata"].get("uid"), new["metadata"].get("resourceVersion")))
            new = _allowed(kind, old, new, subresource)
            if new == old:
                return copy.deepcopy(old)
            if kind.counts_generation and new.get("spec") != old.get("spec"):
                new["metadata"]["generation"] = old["metadata"]["generation"] + 1
            return self._write((kind, namespace, name), old, new)

    def delete(self, kind: ResourceType, namespace: str, name: str, only_if: Preconditions | None = None) -> Obj:
        """Remove the object, or mark it while finalizers hold it. Returns its last state."""
        with self._lock:
            old = self._current(kind, namespace, name)
            _check(kind, name, old, only_if or Preconditions())
            if not old["metadata"].get("finalizers"):
                return self._remove((kind, namespace, name), old)
            if is_terminating(old):
                return copy.deepcopy(old)
            return self.mark_deleted((kind, namespace, name), grace=0)

    def mark_deleted(self, key: Key, *, grace: int) -> Obj:
        """Set the deletion timestamp, *grace* seconds from now; the object stays."""
        with self._lock:
            old = self._current(*key)
            new = copy.deepcopy(old)
            new["metadata"].update(deletionTimestamp=timestamp(self.now()), deletionGracePeriodSeconds=grace)
            return self._write(key, old, new)

    def check(self, kind: ResourceType, namespace: str, name: str, only_if: Preconditions) -> None:
        """Conflict unless *only_if* holds now."""
        with self._lock:
            _check(kind, name, self._current(kind, namespace, name), only_if)

    def transaction(self) -> threading.RLock:
        """Hold this to read and write as one step."""
        return self._lock

    def _current(self, kind: ResourceType, namespace: str, name: str) -> Obj:
        try:
            return self._objects[(kind, namespace, name)]
        except KeyError:
            raise not_found(kind, name) from None

    def _write(self, key: Key, old: Obj | None, new: Obj) -> Obj:
        self._version += 1
        new["metadata"]["resourceVersion"] = self.version()
        was_held = old is not None and bool(old["metadata"].get("finalizers"))
        if is_terminating(new) and was_held and not new["metadata"].get("finalizers"):
            return self._remove(key, new)
        self._objects[key] = new
        self.history.append(Change(self._version, "ADDED" if old is None else "MODIFIED", key[0], old, new))
        return copy.deepcopy(new)

    def _remove(self, key: Key, old: Obj) -> Obj:
        self._version += 1
        last = copy.deepcopy(old)
        last["metadata"]["resourceVersion"] = self.version()
        del self._objects[key]
        self.history.append(Change(self._version, "DELETED", key[0], old, last))
        return copy.deepcopy(last)


def _check(kind: ResourceType, name: str, old: Obj, only_if: Preconditions) -> None:
    meta = old["metadata"]
    if only_if.uid not in (None, meta["uid"]):
        why = f"Precondition failed: UID in precondition: {only_if.uid}, UID in object meta: {meta['uid']}"
        raise conflict(kind, name, why)
    if only_if.resource_version not in (None, "", meta["resourceVersion"]):
        raise conflict(kind, name, _STALE)


def _allowed(kind: ResourceType, old: Obj, new: Obj, subresource: str) -> Obj:
    """*new*, with everything put back that this way of writing may not touch."""
    if subresource == "status":
        new = {**copy.deepcopy(old), "status": new.get("status", {})}
    elif "status" in kind.subresources:
        new.pop("status", None)
        if "status" in old:
            new["status"] = copy.deepcopy(old["status"])
    for field in _FIXED:
        new["metadata"].pop(field, None)
        if field in old["metadata"]:
            new["metadata"][field] = old["metadata"][field]
    new["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"]
    new["apiVersion"], new["kind"] = old["apiVersion"], old["kind"]
    return new

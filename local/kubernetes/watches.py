"""A watch: the changes of one kind, as a client that selects by labels or fields sees them.

An object that stops matching is DELETED for the watcher, one that begins to is ADDED.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from local.kubernetes.errors import StatusError, bad_request
from local.kubernetes.history import Change
from local.kubernetes.objects import Obj
from local.kubernetes.resources import ResourceType
from local.kubernetes.selectors import Selector
from local.kubernetes.store import Store

_LONGEST_SECONDS = 3600.0
_BEAT_SECONDS = 1.0


@dataclass(frozen=True)
class Watch:
    """One open watch. `first` are the objects that were there when no version was named."""

    store: Store
    kind: ResourceType
    namespace: str
    where: Selector
    version: int
    first: tuple[Obj, ...] = ()
    seconds: float = _LONGEST_SECONDS

    @classmethod
    def of(cls, store: Store, kind: ResourceType, namespace: str, where: Selector, query: Mapping[str, str]) -> "Watch":
        """The watch that the query asks for (`resourceVersion`, `timeoutSeconds`)."""
        try:
            version = int(query.get("resourceVersion") or 0)
            seconds = min(float(query.get("timeoutSeconds") or _LONGEST_SECONDS), _LONGEST_SECONDS)
        except ValueError:
            raise bad_request("resourceVersion and timeoutSeconds are numbers") from None
        first: list[Obj] = []
        if version == 0:
            first, newest = store.select(kind, namespace, where)
            version = int(newest)
        return cls(store, kind, namespace, where, version, tuple(first), seconds)

    def events(self) -> Iterator[Obj | None]:
        """`{type, object}` as they come; None about once a second without news; ends after `seconds` or at the stop."""
        yield from ({"type": "ADDED", "object": obj} for obj in self.first)
        version, waited, history = self.version, 0.0, self.store.history
        while waited < self.seconds and not history.is_closed:
            try:
                changes = history.since(version)
            except StatusError as error:
                yield {"type": "ERROR", "object": error.body()}
                return
            for change in changes:
                version = change.version
                event = self._seen(change)
                if event is not None:
                    yield event
            if not history.wait(version, _BEAT_SECONDS):
                waited += _BEAT_SECONDS
                yield None

    def _seen(self, change: Change) -> dict[str, Any] | None:
        if change.kind is not self.kind or self.namespace not in ("", change.after["metadata"].get("namespace", "")):
            return None
        before = change.before is not None and self.where(change.before)
        after = change.type != "DELETED" and self.where(change.after)
        if not (before or after):
            return None
        kind = "MODIFIED" if before and after else "ADDED" if after else "DELETED"
        return {"type": kind, "object": change.after}

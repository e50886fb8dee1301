"""Collects: part after part, each to S3 as soon as it is whole, the manifest last.

Decides that one runs at a time, and that what was collected once is not collected again. The contract stands in
`agent.evidence.request`. It must not know faults, nor how a part is collected.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from agent.evidence.collection import Collection, Limits
from agent.evidence.parts import Place, parts_of
from agent.evidence.reading import PARTS
from agent.evidence.request import MANIFEST, EvidenceManifest, EvidencePart, EvidenceRequest
from agent.evidence.store import EvidenceStore
from agent.evidence.upload import Uploader
from agent.own import OwnWork
from agent.prober.client import Prober
from policies.contract.envelope import NodeIdentity
from policies.contract.times import format_time
from policies.contract.vocabulary import Kind

log = logging.getLogger(__name__)

_READING = "agent.evidence.reading:Reading"
_UPLOAD_SECONDS = 5.0  # how long `collect` waits for the upload, beyond the collection's own seconds
_HANGING_AT_MOST = 3
_EVENTS_BYTES = 4 << 20
# What reading the node alone makes the kernel say: see agent/own.py.
_PROVOKED = (Kind.NETWORK_REGISTER_ACCESS_FAILED,)


class EvidenceCollector:
    """See `agent.evidence.request.Evidence`."""

    def __init__(
        self,
        node: NodeIdentity,
        store: EvidenceStore,
        place: Callable[[], Place],
        *,
        limits: Limits,
        clock: Callable[[], datetime],
        own: OwnWork,
        events: Callable[[], Iterable[str]] = tuple,
        uploader: Uploader | None = None,
    ) -> None:
        """Keep in *store*; *events* are lines on what the agent told last; without *uploader* it stays on the node."""
        self._node, self._store, self._place = node, store, place
        self._limits, self._clock, self._own = limits, clock, own
        self._events, self._uploader = events, uploader
        self._lock = threading.Lock()
        self._hanging: list[int] = []  # readers that hang in the kernel cannot be killed, and must not pile up
        self.last: EvidenceManifest | None = None

    def collect(self, request: EvidenceRequest) -> EvidenceManifest:
        """See `agent.evidence.request`."""
        limits = Limits(
            min(request.seconds or self._limits.seconds, self._limits.seconds),
            min(request.bytes or self._limits.bytes, self._limits.bytes),
        )
        began_at, began = self._clock(), time.monotonic()
        if not self._lock.acquire(timeout=limits.seconds):
            return self._without(request, began_at, "another collection took all the time")
        limits = replace(limits, seconds=max(0.0, limits.seconds - (time.monotonic() - began)))
        try:
            self.last = self._collect(request, limits, began_at)
        except OSError as error:
            why = f"{self._store.folder(request.id)} cannot be written ({error.strerror})"
            log.error("evidence cannot be kept", extra={"id": request.id, "why": why})  # noqa: TRY400 - no bug of ours
            self.last = self._without(request, began_at, why)
        finally:
            self._lock.release()
        return self.last

    def _collect(self, request: EvidenceRequest, limits: Limits, began_at: datetime) -> EvidenceManifest:
        folder = self._store.folder(request.id)
        if told := self._store.manifest(folder):
            return replace(_from_json(told), uploaded=self._store.is_uploaded(folder))
        self._store.begin(request.id, limits.bytes)
        reader = self._child()
        try:
            with self._own.doing(*_PROVOKED) as ours:
                collection = Collection(folder, limits, reader, ours)
                self._take_all(request, collection)
        finally:
            self._end(reader)
        manifest = self._manifest(request, began_at, tuple(collection.parts))
        self._store.finish(folder, manifest.as_json())
        self._offer()
        uploaded = bool(self._uploader and self._uploader.wait_for(folder, _UPLOAD_SECONDS))
        log.info("evidence is kept", extra={"id": request.id, "folder": str(folder), "uploaded": uploaded})
        return replace(manifest, uploaded=uploaded)

    def _take_all(self, request: EvidenceRequest, collection: Collection) -> None:
        place = self._place()
        collection.write("agent-events.jsonl", self._events(), _EVENTS_BYTES)
        for part in parts_of(place, request.pids or collection.find(place.procfs)):
            collection.take(part)
            self._offer()

    def _child(self) -> Prober | None:
        """Return a reader; None when too many of earlier ones hang where no signal reaches them."""
        self._hanging = [pid for pid in self._hanging if Path(f"/proc/{pid}").exists()]
        return Prober(dict.fromkeys(PARTS, _READING)) if len(self._hanging) < _HANGING_AT_MOST else None

    def _end(self, reader: Prober | None) -> None:
        if reader is None:
            return
        if pid := reader.pid:
            self._hanging.append(pid)
        reader.close()

    def _offer(self) -> None:
        if self._uploader:
            self._uploader.offer()

    def _without(self, request: EvidenceRequest, began_at: datetime, why: str) -> EvidenceManifest:
        return self._manifest(request, began_at, (EvidencePart("all", error=why),))

    def _manifest(
        self, request: EvidenceRequest, began_at: datetime, parts: tuple[EvidencePart, ...]
    ) -> EvidenceManifest:
        folder = self._store.folder(request.id)
        return EvidenceManifest(
            id=request.id,
            reason=request.reason,
            instance_id=self._node.instance_id,
            boot_id=self._node.boot_id,
            began_at=format_time(began_at),
            ended_at=format_time(self._clock()),
            folder=str(folder),
            address=self._uploader.address(folder / MANIFEST) if self._uploader else "",
            uploaded=False,
            parts=parts,
        )


def _from_json(told: dict[str, Any]) -> EvidenceManifest:
    return EvidenceManifest(**{**told, "parts": tuple(EvidencePart(**part) for part in told["parts"])})

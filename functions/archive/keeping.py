"""Puts records of either lane into the archive, with the place of their node where triage would fill it in.

Decides which nodes are looked up: those that have events and do not say where they are. Whatever bytes a record has, it
is kept. Written twice it is the same object, or one that overlaps: whoever reads takes each record once. It must not
know which function it runs in.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from functions.adapters.archive_packing import pack
from functions.place_book import PlaceBook
from functions.ports.archive import ArchiveWriter
from functions.ports.triage import NodeKey
from functions.triage.records import FAULTS, Record
from functions.triage.sorting import check_sender
from policies.contract.archive import ArchivedRecord, format_record
from policies.contract.archive_names import EVENTS
from policies.contract.envelope import parse_envelope
from policies.contract.errors import BadInputError


class Keeper:
    """Keeps records in *archive*."""

    def __init__(self, archive: ArchiveWriter, places: PlaceBook) -> None:
        """Look places up in *places*."""
        self._archive = archive
        self._places = places

    def keep(self, records: Sequence[Record], now: datetime) -> int:
        """Write *records*; return how many objects they made. DependencyError: not all of them may be there."""
        nodes = {record.id: node for record in records if (node := _without_place(record.body)) is not None}
        places = self._places.find(nodes.values(), now) if nodes else {}
        written = 0
        for source, mine in _by_source(records).items():
            archived = (_archived(record, nodes, places) for record in mine)
            for key, body in pack(archived, EVENTS, source, format_record):
                self._archive.put(key, body)
                written += 1
        return written


def _by_source(records: Sequence[Record]) -> Mapping[str, list[Record]]:
    """A stream's batch is of one shard, whose name begins the ids of its records."""
    found: dict[str, list[Record]] = {}
    for record in records:
        source = f"{FAULTS}-{record.id.partition(':')[0]}" if record.lane == FAULTS else record.lane
        found.setdefault(source, []).append(record)
    return found


def _archived(
    record: Record, nodes: Mapping[str, NodeKey], places: Mapping[NodeKey, tuple[str, ...]]
) -> ArchivedRecord:
    place = places.get(nodes[record.id], ()) if record.id in nodes else ()
    return ArchivedRecord(record.arrived_at, record.lane, record.id, record.body, place)


def _without_place(body: bytes) -> NodeKey | None:
    """Return whose events are in *body* if it does not say where that node is. Whoever cannot be a key has no place."""
    try:
        if not _asks(json.loads(body)):
            return None
        envelope = parse_envelope(body).envelope
        check_sender(envelope)
    except (ValueError, RecursionError, BadInputError):
        return None
    return NodeKey(envelope.node.cluster, envelope.node.instance_id) if envelope.events else None


def _asks(data: Any) -> bool:  # noqa: ANN401 - JSON of any shape
    node = data.get("node") if isinstance(data, dict) else None
    return isinstance(node, dict) and bool(data.get("events")) and not node.get("network_path")

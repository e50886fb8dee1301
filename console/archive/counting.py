"""What is in the archive, day by day: a judge of its lines, which reads nothing itself.

Decides what counts as what. Memory grows with nodes and kinds, not with the number of records. An event is counted once
however often its agent had to send it; a record that was archived twice is told by whoever reads.
"""

import json
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from console.archive.spans import Spans
from policies.contract.archive import ArchivedRecord, Happening
from policies.contract.envelope import CANARY_NODE

_DONE = "done"


@dataclass
class DayCount:
    """One day (UTC). ``junk``: records that are no envelope. ``sizes``: bytes in the archive by family.

    ``sent_again``: events that had come before. ``missing``: numbers that never came. ``repeated``: lines that were
    archived twice.
    """

    day: date
    records: int = 0
    overflow: int = 0
    envelopes: int = 0
    heartbeats: int = 0
    canaries: int = 0
    junk: int = 0
    events: int = 0
    sent_again: int = 0
    missing: int = 0
    repeated: int = 0
    objects: int = 0
    incidents: set[str] = field(default_factory=set)
    acts: set[str] = field(default_factory=set)
    policies: int = 0
    nodes: set[tuple[str, str]] = field(default_factory=set)
    kinds: Counter[str] = field(default_factory=Counter)
    sizes: Counter[str] = field(default_factory=Counter)
    first: datetime | None = None
    last: datetime | None = None


class Counting:
    """Takes records and happenings in their order."""

    def __init__(self) -> None:
        """Have counted nothing."""
        self.days: dict[date, DayCount] = {}
        self._spools: dict[tuple[str, str, str], Spans] = {}

    def day(self, day: date) -> DayCount:
        """Return what is counted of *day*."""
        return self.days.setdefault(day, DayCount(day))

    def take(self, record: ArchivedRecord) -> None:
        """Count *record*."""
        today = self.day(record.arrived_at.astimezone(UTC).date())
        today.records += 1
        today.overflow += record.lane == "overflow"
        today.first = min(today.first or record.arrived_at, record.arrived_at)
        today.last = max(today.last or record.arrived_at, record.arrived_at)
        envelope = _envelope(record.body)
        if envelope is None:
            today.junk += 1
            return
        node = envelope["node"]
        if node.get("name") == CANARY_NODE:
            today.canaries += 1
            return
        key = (str(node.get("cluster")), str(node.get("instance_id")))
        today.nodes.add(key)
        self._events(today, envelope, self._spools.setdefault((*key, str(envelope.get("spool_id"))), Spans()))

    def happened(self, told: Happening) -> None:
        """Count a version of an incident, an act's record, or what became of a policy."""
        today = self.day(told.at.astimezone(UTC).date())
        document = told.document
        if told.what == "incident":
            if document.get("version") == 1:
                today.incidents.add(str(document.get("id")))
        elif told.what == "act":
            if (document.get("report") or {}).get("status") == _DONE:
                today.acts.add(":".join(str(document.get(name)) for name in ("incident", "rung", "attempt", "turn")))
        elif told.what != "in_force":
            today.policies += 1

    def finish(self) -> None:
        """Count what never came: only at the end it is known."""
        for spans in self._spools.values():
            for day, number in spans.missing():
                self.day(day).missing += number

    def _events(self, today: DayCount, envelope: dict[str, Any], spans: Spans) -> None:
        events = [event for event in envelope["events"] if isinstance(event, dict)]
        if not events:
            today.heartbeats += 1
            if isinstance(envelope.get("first_seq"), int):
                spans.claim(envelope["first_seq"], today.day)
            return
        today.envelopes += 1
        for event in events:
            if isinstance(event.get("seq"), int) and not spans.take(event["seq"], today.day):
                today.sent_again += 1
                continue
            today.events += 1
            today.kinds[str(event.get("kind"))] += 1


def _envelope(body: bytes) -> dict[str, Any] | None:
    """Return the envelope in *body* as far as it is one: triage judges whether it can be used."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or not isinstance(data.get("node"), dict):
        return None
    return data if isinstance(data.setdefault("events", []), list) else None

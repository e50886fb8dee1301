"""What every poll's readings become: events at onset, again while it holds, and when it is over.

State (JSON, stored with the events in one append, so a crash neither repeats nor loses): a sequence number, the boot,
the open conditions, what happened and is not told yet, the poll's own memory. Decides when something is told. Another
boot begins with none of it but the number: a condition that holds there is told anew. It must not know what is
measured, nor read a clock.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from agent.coalesce import Seen
from agent.events import EventMaker
from agent.parsers.sighting import Sighting
from agent.polls.reading import Happened, Holds, Instant, Memory, NotMeasured, Reading
from agent.polls.stored import dump_sighting, load_sighting
from agent.spool.spool import MAX_EVENTS_AN_APPEND, Spool
from agent.spool.state import Progress
from policies.contract.base import LARGEST_NUMBER
from policies.contract.events import Component, FaultEvent, Scalar
from policies.contract.times import format_time, parse_time
from policies.contract.vocabulary import Kind, Severity

STORE_SECONDS = 15.0  # how often memory alone is written: what a crash makes a poll count again from
BEGUN_STORE_SECONDS = 2.0  # the same where something must last: an agent that is killed each minute tells it as well
BURST_SECONDS = 10.0
MAX_CONDITIONS = 1024  # more than 8 GPUs times 18 links times what can be wrong with one; the others are told as one
FOLDED = "|folded"  # ends the key of what stands for many
BREAK_SECONDS = 120.0  # without a look, twice as long as the slowest poll waits
Json = dict[str, Any]


class PollWork:
    """What one run holds in memory. When it raises, nothing of it is kept: the next begins at what the spool says."""

    def __init__(self, name: str, spool: Spool, maker: EventMaker, *, boot_grace: float = 0.0) -> None:
        """Go on where *spool* knows *name* to be; *boot_grace* is in seconds since boot."""
        self._name, self._spool, self._maker, self._boot_grace = name, spool, maker, boot_grace
        place = spool.progress(name)
        stored: Json = json.loads(json.dumps(place.cursor)) if place else {}
        self._next = int(stored.get("next", 0))
        self._boot = maker.boot_id
        if stored.get("boot") != self._boot:
            stored = {}  # of another boot: its ticks mean nothing now, and what was seen then need not be there
        self._conditions: dict[str, Json] = stored.get("conditions", {})
        self._happened: dict[str, Json] = stored.get("happened", {})
        self.memory: Memory = stored.get("memory", {})
        self._stored_at: float | None = None
        self._begun = False  # a condition began, or ended, and is not stored

    def take(self, readings: Sequence[Reading], now: Instant) -> None:
        """Tell what is new among *readings*, and store where the poll is."""
        events: list[FaultEvent] = []
        holding: set[str] = set()
        for reading in readings:
            if isinstance(reading, Holds):
                key, placed = self._placed(reading)
                holding.add(key)
                events += self._holds(key, placed, now)
            elif isinstance(reading, Happened):
                events += self._count(reading, now)
        unknown = [reading for reading in readings if isinstance(reading, NotMeasured)]
        events += self._clear(holding, unknown, now)
        events += self._overdue_counts(now)
        self._store(events, now)

    def finish(self, now: Instant) -> None:
        """Tell what was counted and not told, and store the place."""
        self._append([self._rest(key, now) for key in self._untold()], now)

    def _placed(self, reading: Holds) -> tuple[str, Holds]:
        """Return *reading* and its key; where there is no place for one more, what stands for all such of its kind."""
        key = reading.key
        if key in self._conditions or len(self._conditions) < MAX_CONDITIONS:
            return key, reading
        part = reading.sighting.component
        whole = Component(type=part.type) if part else None
        folded = replace(reading, sighting=replace(reading.sighting, component=whole, attributes={"folded": True}))
        return folded.key + FOLDED, folded

    def _holds(self, key: str, reading: Holds, now: Instant) -> list[FaultEvent]:
        rank, state = reading.sighting.severity.rank, self._conditions.get(key)
        if state is None or _is_broken_off(state, reading, now):
            state = self._conditions[key] = {"since": now.ticks, "told": None, "rank": rank}
            self._begun = True
        state |= {"well": None, "seen": now.ticks}
        if now.ticks - state["since"] < reading.after or (not reading.in_boot and now.ticks < self._boot_grace):
            return []
        if state["told"] is not None and now.ticks - state["told"] < reading.again and rank <= state["rank"]:
            return []
        event = self._event(reading.sighting, reading.message, now, since=_since(state, now))
        if state["told"] is None:
            state["occurrence"] = event.attributes.get("occurrence", event.id)
        else:
            notes: dict[str, Scalar] = {"ongoing": True, "occurrence": state["occurrence"]}
            event = event.model_copy(update={"attributes": {**event.attributes, **notes}})
        state |= {"told": now.ticks, "rank": rank, "cleared_after": reading.cleared_after, "recovery": reading.recovery}
        state["sighting"] = dump_sighting(reading.sighting)
        return [event]

    def _clear(self, holding: set[str], unknown: Sequence[NotMeasured], now: Instant) -> list[FaultEvent]:
        told: list[FaultEvent] = []
        for key in [key for key in self._conditions if key not in holding]:
            state = self._conditions[key]
            kind, _, rest = key.partition("|")
            part = None if key.endswith(FOLDED) else rest.partition("|")[0]
            if any(kind in one.kinds and (part is None or one.covers(kind, part)) for one in unknown):
                continue
            if state["told"] is None:
                del self._conditions[key]
                continue
            if state.get("well") is None:
                state["well"], self._begun = now.ticks, True
            if now.ticks - state["well"] >= state["cleared_after"]:
                del self._conditions[key]
                told.append(self._cleared(state, now))
        return told

    def _cleared(self, state: Json, now: Instant) -> FaultEvent:
        before = load_sighting(state["sighting"])
        lasted = round(state["well"] - state["since"], 1)
        attributes: dict[str, Scalar] = {**before.attributes, "of": before.kind.value, "lasted_seconds": lasted}
        attributes["occurrence"] = state["occurrence"]
        sighting = Sighting(Kind(state["recovery"]), Severity.INFO, before.component, attributes)
        return self._event(sighting, f"{before.kind} is over after {lasted:.0f} s", now)

    def _count(self, reading: Happened, now: Instant) -> list[FaultEvent]:
        if reading.count <= 0:
            return []
        state = self._happened.get(reading.key)
        if state is not None and now.ticks - state["told"] < BURST_SECONDS:
            if not state["more"]:
                state |= {
                    "first": format_time(now.at),
                    "sighting": dump_sighting(reading.sighting),
                    "message": reading.message,
                }
            state["more"] += reading.count
            return []
        more = state["more"] if state else 0
        since = parse_time(state["first"]) if state and more else now.at
        self._happened[reading.key] = {"told": now.ticks, "more": 0}
        return [self._event(reading.sighting, reading.message, now, count=reading.count + more, since=since)]

    def _overdue_counts(self, now: Instant) -> list[FaultEvent]:
        over = [key for key, state in self._happened.items() if now.ticks - state["told"] >= BURST_SECONDS]
        told = [self._rest(key, now) for key in over if self._happened[key]["more"]]
        for key in over:
            if not self._happened[key]["more"]:
                del self._happened[key]
        return told

    def _untold(self) -> list[str]:
        return [key for key, state in self._happened.items() if state["more"]]

    def _rest(self, key: str, now: Instant) -> FaultEvent:
        """Return what *key* counted since it was last told."""
        state = self._happened[key]
        since, count = parse_time(state["first"]), state["more"]
        self._happened[key] = {"told": now.ticks, "more": 0}
        return self._event(load_sighting(state["sighting"]), state["message"], now, count=count, since=since)

    def _event(
        self, sighting: Sighting, message: str, now: Instant, *, count: int = 1, since: datetime | None = None
    ) -> FaultEvent:
        """Return an event that no other has the id of, not even one of a spool that was lost in this boot."""
        cursor = f"{self._name}:{self._next}:{now.ticks:.6f}"
        self._next += 1
        event = self._maker.event(Seen(sighting, cursor, int(now.ticks * 1e6), now.at, message))
        count = min(count, LARGEST_NUMBER)
        return event.model_copy(update={"count": count, "first_observed_at": min(since or now.at, now.at)})

    def _store(self, events: list[FaultEvent], now: Instant) -> None:
        if self._stored_at is None:
            self._stored_at = now.ticks - (BEGUN_STORE_SECONDS if self._begun else 0.0)
        soon = BEGUN_STORE_SECONDS if self._begun else STORE_SECONDS
        if events or now.ticks - self._stored_at >= soon:
            self._append(events, now)

    def _append(self, events: list[FaultEvent], now: Instant) -> None:
        state = {
            "next": self._next,
            "boot": self._boot,
            "conditions": self._conditions,
            "happened": self._happened,
            "memory": self.memory,
        }
        place = json.loads(json.dumps(state))  # the spool keeps it, and this one goes on changing
        for start in range(MAX_EVENTS_AN_APPEND, len(events), MAX_EVENTS_AN_APPEND):
            self._spool.append(events[start : start + MAX_EVENTS_AN_APPEND])
        self._spool.append(events[:MAX_EVENTS_AN_APPEND], Progress(self._name, place))
        self._stored_at, self._begun = now.ticks, False


def _is_broken_off(state: Json, reading: Holds, now: Instant) -> bool:
    """Tell whether nobody looked for so long that what must last cannot be said to have lasted.

    The agent was not there, the node slept, the value could not be read: what was seen once before and is seen once
    again need not have held meanwhile. What was told goes on: it was a fault, and no good look ended it.
    """
    gap = now.ticks - state.get("seen", now.ticks)
    return state["told"] is None and gap > max(BREAK_SECONDS, reading.after)


def _since(state: Json, now: Instant) -> datetime:
    """When a condition began, by the clock as it is now: the wall clock may have been set since."""
    return now.at - timedelta(seconds=max(0.0, now.ticks - state["since"]))

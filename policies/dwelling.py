"""Policies with `for`: what one batch of a node adds to how long their conditions hold, and which have held so long.

Decides when a condition is fulfilled: something was heard of the node, an event or a heartbeat, so long after it began,
with no healthy observation in between. So a heartbeat alone may fulfil it. What was seen in one boot is held up by what
is heard from that boot only. It must not read a clock.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from policies.contract.decisions import Finding
from policies.contract.envelope import NodeIdentity
from policies.contract.events import Component, FaultEvent
from policies.contract.vocabulary import ComponentType, Kind
from policies.dwell import LONGEST_BOOT, Condition, Dwell, Seen
from policies.dwell_details import keep, restore, room_of
from policies.facts.snapshot import Facts
from policies.findings import Matched, build_finding, scope_of
from policies.lasting import told_before
from policies.measures import Fulfilled
from policies.node_state import NodeState
from policies.rulebook import Rule, Rulebook

# What still holds is told again every ten minutes (agent/polls/reading.py): after three that never came, what was seen
# last is old news, however alive the node is. An event of last week that arrives today justifies no act.
VOUCHED_MS = 30 * 60_000


@dataclass(frozen=True)
class _Heard:
    moment: int
    node: NodeIdentity
    arrived_at: datetime


@dataclass
class Dwelling:
    """Works on the dwells in *state*; `changed` when there is something to write."""

    state: NodeState
    rulebook: Rulebook
    changed: bool = False
    _heard: dict[str, _Heard] = field(default_factory=dict)

    def hear(self, moment: int, node: NodeIdentity, arrived_at: datetime) -> None:
        """Note that something was heard of the node at *moment* (ms, corrected)."""
        heard = _Heard(moment, node, arrived_at)
        for boot in {"", node.boot_id[:LONGEST_BOOT]}:
            known = self._heard.get(boot)
            if known is None or moment > known.moment:
                self._heard[boot] = heard

    def match(self, rule: Rule, scope: str, event: FaultEvent, lasted: tuple[int, int], boot: str) -> None:
        """Note that *event* meets *rule*: what it tells *lasted* from one moment (ms, corrected) to the other."""
        since, moment = lasted
        condition = Condition(event.kind.value, boot[:LONGEST_BOOT], since, moment)
        name = told_before(event) or event.id
        seen = Seen(moment, event.id, partial(keep, event, moment), room_of(event))
        self.state.dwell(f"{rule.name}|{scope}").match(name, condition, rule.revision, seen)
        self.changed = True

    def heal(self, event: FaultEvent, kinds: Iterable[Kind], moment: int, boot: str) -> None:
        """Note that *event* says these *kinds* to be over."""
        name = told_before(event)
        for kind in sorted(kinds):
            for rule in self.rulebook.dwelling(kind):
                for key in self._keys(rule, event.component):
                    self.state.dwell(key).heal(kind.value, moment, name, boot[:LONGEST_BOOT])
                    self.changed = True

    def _keys(self, rule: Rule, component: Component | None) -> list[str]:
        """Return whose end it may be: the driver tells a reset by UUID alone, most faults by address as well."""
        own = f"{rule.name}|{'node' if rule.per_node else scope_of(component)}"
        if component is None or component.uuid is None or rule.per_node:
            return [own]
        others = ((key, self.state.dwell(key).newest) for key in self.state.dwells if key.startswith(f"{rule.name}|"))
        same = {key for key, newest in others if newest and (newest[5] or {}).get("uuid") == component.uuid}
        return [own, *sorted(same - {own})]

    def _join(self) -> None:
        """Keep a GPU's by its address once that is known: whichever of fault, reset and names came first."""
        gpus = self.state.gpus
        kept = {*self.state.dwells} if gpus else ()
        for pci, uuid in gpus:
            for name in self.rulebook.lasting:
                other = f"{name}|{ComponentType.GPU}:{uuid}"
                if other in kept:
                    self.state.join_dwells(f"{name}|{ComponentType.GPU}:{pci}", other)
                    self.changed = True

    def findings(self, now: datetime, known: Facts) -> list[Finding]:
        """Return those that have held for so long and were not told, with what is *known* of what they ask."""
        found: list[Finding] = []
        self._join()
        for key in self.state.dwells:
            rule = self.rulebook.lasting.get(key.partition("|")[0])
            told = self._told(rule, key) if rule else None
            if told is not None:
                found.append(build_finding(*told, now, known))
        return found

    def _told(self, rule: Rule, key: str) -> tuple[Matched, Fulfilled] | None:
        dwell = self.state.dwell(key)
        since = dwell.holds_since()
        if since is None or dwell.told == since or dwell.newest is None or dwell.revision != rule.revision:
            return None  # an edited policy waits for something that its new words fit
        known = dwell.told >= since
        heard = max((self._heard[boot] for boot in dwell.open_boots() & self._heard.keys()), key=_moment, default=None)
        if not known and (heard is None or heard.moment < since + rule.dwell):
            return None
        if dwell.told != since:
            dwell.told, self.changed = since, True
        return None if known or heard is None else _finding(rule, key, dwell, since, heard)


def _finding(rule: Rule, key: str, dwell: Dwell, since: int, heard: _Heard) -> tuple[Matched, Fulfilled]:
    assert dwell.newest is not None, "what holds was seen"
    event = restore(dwell.newest)
    messages = {event.message: None} if event.message else {}
    scope, names = key.partition("|")[2], dwell.event_ids
    matched = Matched(rule, scope, event, dwell.newest[0], heard.node, heard.arrived_at, messages)
    newest = dwell.newest[0]
    vouched = heard.moment - newest <= rule.dwell + VOUCHED_MS
    return matched, Fulfilled(since, heard.moment if vouched else newest, len(names), names)


def _moment(heard: _Heard) -> int:
    return heard.moment

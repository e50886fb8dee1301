"""Contributions become counts of a job, rack, switch or cluster, and what is fulfilled a finding about that scope.

Decides the finding: about a job it names a node that told of it, about anything wider it names the scope, so that no
act can take it for an instance. What becomes of it is as for any other finding. It must not count by itself.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple

from policies.contract.decisions import AnyMessage, Contribution, Contributions, Finding, FindingsMessage
from policies.contract.errors import BadInputError
from policies.contract.identifiers import stable_id
from policies.coordination.storms import generation_of_scope
from policies.coordination.windows import MOST_TELLERS, Counted, Found, Window, count, window_key
from policies.measures import LATENESS_MS
from policies.moments import from_ms
from policies.scopes import scope_name, stand_in

MOST_MESSAGES = MOST_EVENT_IDS = 8
MOST_NAMES = 6  # of nodes in the first line; the window knows more


class Heard(NamedTuple):
    """One group, what it came to, and what it found."""

    group: Contributions
    counted: Counted
    findings: tuple[Finding, ...]


def window_keys(messages: Iterable[AnyMessage]) -> frozenset[str]:
    """Return the windows that *messages* contribute to."""
    return frozenset(window_key(group.rule.plan.name, group.scope) for group in groups_of(messages))


def groups_of(messages: Iterable[AnyMessage]) -> Iterator[Contributions]:
    """Yield what *messages* contribute."""
    for message in messages:
        if isinstance(message, FindingsMessage):
            yield from message.contributions


def hear(
    windows: Mapping[str, Window], groups: Iterable[Contributions], cluster: str, now: datetime
) -> Iterator[Heard]:
    """Yield what each of *groups* comes to, one after the other, on top of *windows*, which stay as they are."""
    known = dict(windows)
    for group in groups:
        if any(entry.node.cluster != cluster for entry in group.entries):
            raise BadInputError(f"a contribution to {group.scope} is not of cluster {cluster!r}.", hint="Check triage.")
        key = window_key(group.rule.plan.name, group.scope)
        counted = count(known.get(key), group, cluster)
        known[key] = counted.window
        yield Heard(group, counted, tuple(_findings(group, counted, now)))


def generations_of(group: Contributions) -> frozenset[str]:
    """Return the names under which what *group* may find is leased, whichever revision counts."""
    values = {"", *(entry.same for entry in group.entries)}
    return frozenset(generation_of_scope(group.rule.plan.name, group.scope, value) for value in values)


def _findings(group: Contributions, counted: Counted, now: datetime) -> Iterator[Finding]:
    for found in counted.found:
        yield _finding(group, counted.window, found, now)


def _finding(group: Contributions, window: Window, found: Found, now: datetime) -> Finding:
    rule, scope, newest = window.rule, group.scope, found.newest
    generation = generation_of_scope(rule.plan.name, scope, found.value)
    plan = rule.plan
    identity = (plan.name, plan.revision, rule.hash, window.cluster, generation, scope, found.window.start)
    start = from_ms(found.window.start)
    job = newest.job.model_copy(update={"rank": None}) if newest.job and rule.per == "job" else None
    mine = [one for one in group.entries if not rule.same or one.same == found.value]
    return Finding(
        id=stable_id("finding", *identity),
        node=newest.node if rule.per == "job" else stand_in(scope, newest.node),
        generation=generation,
        policy=plan,
        kind=newest.kind,
        severity=max((one.severity for one in mine), key=lambda one: one.rank),
        source=newest.source,
        job=job,
        count=found.window.count,
        window_start=start,
        first_observed_at=start,
        observed_at=from_ms(found.window.end),
        queued_at=newest.queued_at,
        decided_at=now,
        late=found.window.end < now.timestamp() * 1000 - LATENESS_MS,
        event_ids=found.window.event_ids[:MOST_EVENT_IDS],
        messages=(_who(group, window, found), *_printed(mine)),
        attributes=newest.attributes,
    )


def _who(group: Contributions, window: Window, found: Found) -> str:
    """Return who tells of it; of occurrences of different values who was the first in each."""
    names = [name for name, _moment in sorted(found.tellers.values(), key=lambda one: (-one[1], one[0]))]
    if found.window.firsts:
        names = [found.tellers[value][0] if value in found.tellers else value for value in found.window.firsts]
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    nodes = "1 node" if len(names) == 1 else f"{len(names)} nodes{' or more' if len(names) == MOST_TELLERS else ''}"
    first = ", the first each time" if found.window.firsts else ""
    alike = f" with {window.rule.same} {found.value}" if found.value else ""
    told = f"{', '.join(names[:MOST_NAMES])}{more}{first}"
    return f"{nodes} of {scope_name(group.scope, window.cluster)}{alike}: {told}"


def _printed(entries: Iterable[Contribution]) -> tuple[str, ...]:
    printed = (entry.message for entry in sorted(entries, key=lambda one: (one.moment_ms, one.id)))
    return tuple(list(dict.fromkeys(filter(None, printed)))[: MOST_MESSAGES - 1])

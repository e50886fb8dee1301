"""Contributions become counts of a job, rack, switch or cluster, and what is fulfilled a finding about that scope.

Decides the finding: about a job it names a node that told of it, about anything wider it names the scope, so that no
act can take it for an instance. What becomes of it is as for any other finding. It must not count by itself.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from policies.contract.decisions import AnyMessage, Contribution, Contributions, Finding, FindingsMessage
from policies.contract.errors import BadInputError
from policies.contract.identifiers import stable_id
from policies.coordination.storms import generation_of_scope
from policies.coordination.windows import MOST_TELLERS, Counted, Window, count, window_key
from policies.scopes import scope_name, stand_in
from policies.windows import LATENESS_MS, Fulfilled

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


def _findings(group: Contributions, counted: Counted, now: datetime) -> Iterator[Finding]:
    if counted.newest is not None:
        for fulfilled in counted.fulfilled:
            yield _finding(group, counted.window, counted.newest, fulfilled, now)


def _finding(group: Contributions, window: Window, newest: Contribution, found: Fulfilled, now: datetime) -> Finding:
    rule, scope = window.rule, group.scope
    generation = generation_of_scope(rule.plan.name, scope)
    identity = (rule.plan.name, rule.plan.revision, rule.hash, window.cluster, generation, scope, found.start)
    start = _moment(found.start)
    job = newest.job.model_copy(update={"rank": None}) if newest.job and rule.per == "job" else None
    return Finding(
        id=stable_id("finding", *identity),
        node=newest.node if rule.per == "job" else stand_in(scope, newest.node),
        generation=generation,
        policy=rule.plan,
        kind=newest.kind,
        severity=max((one.severity for one in group.entries), key=lambda one: one.rank),
        source=newest.source,
        job=job,
        count=found.count,
        window_start=start,
        first_observed_at=start,
        observed_at=_moment(found.end),
        queued_at=newest.queued_at,
        decided_at=now,
        late=found.end < now.timestamp() * 1000 - LATENESS_MS,
        event_ids=found.event_ids[:MOST_EVENT_IDS],
        messages=_messages(group, window),
        attributes=newest.attributes,
    )


def _messages(group: Contributions, window: Window) -> tuple[str, ...]:
    """Return who tells of it, then what they print."""
    names = [name for name, _moment in sorted(window.tellers.values(), key=lambda one: (-one[1], one[0]))]
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    nodes = "1 node" if len(names) == 1 else f"{len(names)} nodes{' or more' if len(names) == MOST_TELLERS else ''}"
    who = f"{nodes} of {scope_name(group.scope, window.cluster)}: {', '.join(names[:MOST_NAMES])}{more}"
    printed = (entry.message for entry in sorted(group.entries, key=lambda one: (one.moment_ms, one.id)))
    return (who, *list(dict.fromkeys(filter(None, printed)))[: MOST_MESSAGES - 1])


def _moment(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)

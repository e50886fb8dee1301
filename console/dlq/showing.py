"""The items of one resting place, each with why it is there, ready to be printed.

Decides how much of a body is shown: its first bytes in a list, (almost) all of it when one item was asked for. Secrets
are cut either way. It must not print.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from console.dlq.looking import MOST_LOOKED_AT, peek
from console.dlq.model import DlqError, Dropped, Message
from console.dlq.parts import FAILURES, REJECTS, Parts, name_of
from console.dlq.reasons import why
from console.dlq.redaction import safe_text
from functions.ports.triage import Reject, RejectSummary
from policies.contract.errors import RelightError

FIRST_LETTERS, MOST_LETTERS = 240, 20_000


@dataclass(frozen=True)
class Shown:
    """One item. ``tries`` counts receives of a message (looks included) or invocations with a batch."""

    id: str
    at: datetime
    why: str
    body: str
    tries: int | None = None
    origin: str = ""
    redriven_at: datetime | None = None


def show(parts: Parts, place: str, *, wanted: str, most: int, days: int) -> Sequence[Shown]:
    """Return up to *most* items of a queue, of the rejects or of the failures; only *wanted* when it names one."""
    letters = MOST_LETTERS if wanted else FIRST_LETTERS
    if place == REJECTS:
        return _rejects(parts, wanted, most, days, letters)
    if place == FAILURES:
        return _failures(parts, wanted, most, letters)
    return _messages(parts, place, wanted, most, letters)


def _messages(parts: Parts, name: str, wanted: str, most: int, letters: int) -> Sequence[Shown]:
    queue = parts.queue(name)
    found = [one for one in peek(parts.queues, queue, MOST_LOOKED_AT if wanted else most) if one.id.startswith(wanted)]
    if wanted and not found:
        raise DlqError(f"{name} shows no message {wanted!r}.", hint=f"`relight dlq show {name}` lists those in reach.")
    return [_message(name, one, letters) for one in found]


def _message(queue: str, message: Message, letters: int) -> Shown:
    return Shown(
        id=message.id,
        at=message.sent_at,
        why=safe_text(why(queue, message)),
        body=safe_text(message.body, letters),
        tries=message.receives,
        origin=message.group,
    )


def _rejects(parts: Parts, wanted: str, most: int, days: int, letters: int) -> Sequence[Shown]:
    lines = [one_reject(parts, wanted, days)] if wanted else parts.looker.list_rejects(days)[:most]
    found = [one for one in map(parts.rejects.load, lines) if one]
    sent = parts.redrives.times([one.id for one in found])
    return [_reject(one, sent.get(one.id), letters) for one in found]


def one_reject(parts: Parts, wanted: str, days: int) -> RejectSummary:
    """Return the line of the reject whose id begins with *wanted*; DlqError when that is none, or not one alone."""
    found = [one for one in parts.looker.list_rejects(days) if one.id.startswith(wanted)]
    if not found:
        raise DlqError(f"there is no reject {wanted!r} in the last {days} days.", hint="Look further with --days.")
    if len(found) > 1:
        raise DlqError(f"{len(found)} rejects have ids like {wanted!r}.", hint="Give more of the id.")
    return found[0]


def _reject(reject: Reject, sent_at: datetime | None, letters: int) -> Shown:
    return Shown(
        id=reject.id,
        at=reject.arrived_at,
        why=safe_text(f"{reject.reason} {reject.hint}".strip()),
        body=safe_text(reject.payload.decode("utf-8", "replace"), letters),
        origin="/".join(part for part in (reject.lane, reject.cluster, reject.instance_id) if part),
        redriven_at=sent_at,
    )


def _failures(parts: Parts, wanted: str, most: int, letters: int) -> Sequence[Shown]:
    newest_first = list(reversed(parts.failures(wanted)))[:most]
    sent = parts.redrives.times([one.key for one in newest_first])
    return [_failure(parts, one, sent.get(one.key), letters) for one in newest_first]


def _failure(parts: Parts, dropped: Dropped, sent_at: datetime | None, letters: int) -> Shown:
    name = name_of(dropped.key)
    try:
        batch = parts.dropped.load(dropped.key)
    except RelightError as error:
        return Shown(name, dropped.at, str(error), "", redriven_at=sent_at)
    bodies = [record.data.decode("utf-8", "replace") for record in batch.records] or [str(dict(batch.event))]
    return Shown(
        id=name,
        at=dropped.at,
        why=f"{batch.condition}: {len(batch.records) or 'some'} records given up; the function's log says why",
        body=" | ".join(safe_text(body, letters) for body in bodies[:3]),
        tries=batch.tries,
        origin=batch.function.rpartition(":")[2],
        redriven_at=sent_at,
    )

"""What people hear of an edit: the notices, each with the id by which it is told once. It must not read or write."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from functions.ports.notices import Notice, NoticeKind
from functions.ports.policies import UNKNOWN, Head
from policies.contract.identifiers import stable_id
from policies.contract.times import parse_time
from policies.contract.vocabulary import PolicyMode
from policies.coordination.switches import EVERYTHING, stop_of
from policies.problems import Problem, short_name
from policies.wording import first_few

NEWS = timedelta(days=7)
"""How long after an answer people are told of it. A guard that died between the two is repeated within minutes, and the
stream keeps an edit for a day; a notice itself is forgotten after ninety days (`notice_items.py`), so whatever looks
again later must not tell it as new."""

_SHOWN = 3
_LISTED = 100  # for programs; an item has room for as many
_AHEAD = timedelta(hours=1)  # no clock of a worker goes so wrong


def is_time(at: object, now: datetime) -> bool:
    """Whether *at* is a time that one of our answers may have by *now*; else somebody else wrote it there."""
    return isinstance(at, str) and _age(at, now) >= -_AHEAD


def is_news(at: str, now: datetime) -> bool:
    """Whether people may still have to be told *now* of what came about *at* that time (RFC 3339; "": not known)."""
    return -_AHEAD <= _age(at, now) < NEWS


def _age(at: str, now: datetime) -> timedelta:
    try:
        return now - parse_time(at)
    except (ValueError, OverflowError):
        return timedelta.min


def refused(name: str, verdict: Mapping[str, Any], problems: Sequence[Problem], at: datetime) -> Notice:
    """Return the notice that an edit is refused; *verdict* is the one that stands there, with its time."""
    revision = int(verdict["revision"])
    stays = f", revision {revision} stays in force" if revision else ", nothing of it is in force"
    if "mode" in verdict:
        stays = f", but it asks for {verdict['mode']}: revision {revision} is {verdict['mode']} and otherwise as before"
    return _notice(
        "rejected",
        name,
        at,
        (verdict["hash"], verdict["at"]),
        by=verdict["by"],
        text=f"{short_name(name)}: an edit{_by(verdict['by'])} is refused{stays}. {_told(problems)}",
        detail={"revision": revision, "problems": list(verdict["problems"])},
    )


def outgrown(name: str, verdict: Mapping[str, Any], problems: Sequence[Problem], at: datetime) -> Notice:
    """Return the notice that this version would refuse what an earlier one accepted; nobody edited, so it stays."""
    revision = int(verdict["revision"])
    stays = f"revision {revision} stays in force, but this version would refuse it"
    return _notice(
        "rejected",
        name,
        at,
        (verdict["hash"], verdict["at"]),
        text=f"{short_name(name)}: {stays}: {_told(problems)} Mend it before its next edit.",
        detail={"revision": revision, "problems": list(verdict["problems"])},
    )


def _told(problems: Sequence[Problem]) -> str:
    more = f" (and {len(problems) - _SHOWN} more)" if len(problems) > _SHOWN else ""
    return "; ".join(str(problem) for problem in problems[:_SHOWN]) + more


def deleted(head: Head, at: datetime) -> Notice:
    """Return the notice that a policy is off because its item is gone; *head* is the revision that says so."""
    back = f"relight policy rollback {head.name}"
    text = f"{head.name}: its item was deleted, so the policy is off (revision {head.revision}). Not meant? {back}"
    return _notice("deleted", head.name, at, (head.revision, head.hash), text=text, detail={"revision": head.revision})


def mended(head: Head, damage: str, at: datetime) -> Notice:
    """Return the notice that somebody changed by hand what only the guard writes; *head* is in force again.

    A look that failed before it had put the *damage* right is repeated, within minutes: that is no second notice.
    Whoever does the same on another day is told of again.
    """
    now = f"Revision {head.revision} ({head.mode}) is in force again"
    text = f"{head.name}: what is in force was changed by hand, where nobody judges it. {now}. Edit its item `live`."
    return _notice(
        "mended", head.name, at, (head.revision, damage, at.date()), text=text, detail={"revision": head.revision}
    )


def unlisted(names: Sequence[str], change: str, at: datetime) -> Notice:
    """Return the notice that the lines of *names* were removed by hand from the listing, by this *change* of it."""
    shown = first_few([short_name(name) for name in names], _SHOWN)
    text = f"{shown}: removed by hand from the listing `HEADS`, and written anew. What is in force stays so."
    detail = {"policies": [short_name(name) for name in names[:_LISTED]]}
    return _notice("mended", "HEADS", at, ("lines", change), text=f"{text} Edit items `live`.", detail=detail)


def switched(live: Mapping[str, Any], verdict: Mapping[str, Any], at: datetime) -> Notice:
    """Return the notice that somebody stopped everything, or started it again."""
    stop = stop_of(live)
    text = f"{stop}. `relight policy start` ends that." if stop else f"policies act again{_by(verdict['by'])}."
    means = PolicyMode.OFF if stop else PolicyMode.ACTIVE
    return _notice(
        "stopped" if stop else "started",
        EVERYTHING,
        at,
        (verdict["hash"], verdict["at"]),
        by=verdict["by"],
        text=text[:1].upper() + text[1:],
        detail={"mode": means.value, "problems": list(verdict["problems"])},
    )


def unswitched(at: datetime) -> Notice:
    """Return the notice that the switch's item was deleted *at* that time: whatever it stopped acts again."""
    text = "The switch of everything was deleted: policies act again, as without it."
    return _notice(
        "started", EVERYTHING, at, ("deleted", at), text=text, detail={"mode": PolicyMode.ACTIVE.value, "problems": []}
    )


def _notice(
    kind: NoticeKind,
    name: str,
    at: datetime,
    what: tuple[object, ...],
    *,
    text: str,
    detail: dict[str, Any],
    by: str = UNKNOWN,
) -> Notice:
    return Notice(
        id=stable_id(kind, name, *what), kind=kind, policy=short_name(name), at=at, by=by, text=text, detail=detail
    )


def _by(who: str) -> str:
    return "" if who == UNKNOWN else f" by {who}"

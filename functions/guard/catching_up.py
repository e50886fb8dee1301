"""Finds edits that the stream never told of, or told too late: what stands on the table and was not judged.

A stream keeps a change for a day and the mapping gives one up after twelve hours, so an edit may be lost to both while
the guard is off; a shard that is stuck holds back whatever comes behind. Decides which policies are looked at, and in
which order; over a day it is each of them, so that what was changed by hand meanwhile is found as well. It must not
judge: the guard does, as ever, and where all is as it should be it writes nothing.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta

from functions.ports.policies import Heading, PolicyStore
from functions.ports.triage import Telemetry
from policies.contract.errors import DependencyError
from policies.contract.identifiers import stable_id
from policies.contract.vocabulary import PolicyMode
from policies.coordination.switches import EVERYTHING
from policies.documents import fingerprint

TURNS = 96  # a day has so many quarters of an hour, which is how often this comes (`infra/stack.py`)
LONGEST = timedelta(seconds=20)  # of the thirty that the guard has; the next time begins with what matters most again


def catch_up(
    store: PolicyStore, look_at: Callable[[str], None], telemetry: Telemetry, clock: Callable[[], datetime]
) -> None:
    """Have every policy looked at whose item and what is in force do not agree, deleted items first.

    One that the table refuses keeps none behind it from being judged; its DependencyError comes at the end.
    """
    until = clock() + LONGEST
    listed = {heading.name: heading for heading in store.headings()}
    missed, answered = _unsettled(store, listed)
    if missed:
        telemetry.count("PoliciesCaughtUp", len(missed))
        telemetry.warn("edits were not judged when they were made; they are now", policies=", ".join(missed[:10]))
    turn = [name for name in sorted(listed) if _turn_of(name) == _turn_at(clock())]
    failed: DependencyError | None = None
    for name in dict.fromkeys([*missed, *turn, *answered]):
        if clock() >= until:
            telemetry.warn("not all policies could be looked at; the rest follows the next time")
            break
        try:
            look_at(name)
        except DependencyError as error:
            failed = failed or error
    if failed:
        raise failed


def _turn_of(name: str) -> int:
    return int(stable_id("turn", name), 16) % TURNS


def _turn_at(now: datetime) -> int:
    return (now.hour * 60 + now.minute) * TURNS // (24 * 60)


def _unsettled(store: PolicyStore, listed: Mapping[str, Heading]) -> tuple[list[str], list[str]]:
    """Return the names whose item nobody answered, deletions first, and those whose answer is not in the listing.

    These were refused, or are the switch. A verdict may be pasted, so they are looked at as well, after the others.
    """
    found = dict(_states(store, listed))
    deleted = [name for name, it in listed.items() if it.mode is not PolicyMode.OFF and name not in found]
    missed = [name for name, state in found.items() if state == "missed"]
    return [*sorted(deleted), *sorted(missed)], sorted(name for name, state in found.items() if state == "answered")


def _states(store: PolicyStore, listed: Mapping[str, Heading]) -> Iterator[tuple[str, str]]:
    for live in store.all_live():
        name, mark = str(live["name"]), fingerprint(live)
        verdict, heading = store.verdict(live), listed.get(str(live["name"]))
        if verdict is None:
            yield name, "missed"
        elif verdict.get("status") != "accepted" or name == EVERYTHING:
            yield name, "answered"
        else:
            yield name, "settled" if heading and heading.hash == mark else "missed"

"""The minute's look at every open incident: overdue ones are parked, those that nobody works on get a new attempt.

Those whose policy may not act any more are stopped, also in the middle of a rung. What was found while a person's no
held is asked for once that is over.

It must not look executions up: it says which to look up, and reads what came of it from the snapshot.
"""

from collections.abc import Iterable
from datetime import datetime

from policies.coordination.asking_again import ask_again
from policies.coordination.endings import park, restart
from policies.coordination.halting import halt
from policies.coordination.incident import Incident
from policies.coordination.rules import MOST_LOOKUPS, PATIENCE_SECONDS, SILENCE_SECONDS, Rules
from policies.coordination.snapshot import ExecutionState
from policies.coordination.working import Working


def take_sweep(work: Working, rules: Rules, now: datetime) -> None:
    """Park and restart what needs it among the incidents of the snapshot, and ask for what nobody refuses any more."""
    for incident in tuple(work.incidents.values()):
        if incident.status.is_running:
            _look_at(work, incident, now)
    ask_again(work, rules, now)


def is_overdue(incident: Incident, now: datetime) -> bool:
    """Whether a running incident should have been over by now."""
    return incident.status.is_running and now >= incident.deadline


def to_look_up(incidents: Iterable[Incident], now: datetime, rules: Rules) -> tuple[Incident, ...]:
    """Return the incidents whose execution is worth describing: silent ones, the longest silent first."""
    silent = (each for each in incidents if each.status.is_running and _is_silent(each, now, rules))
    return tuple(sorted(silent, key=lambda each: (each.updated_at, each.id))[:MOST_LOOKUPS])


def _is_silent(incident: Incident, now: datetime, rules: Rules) -> bool:
    heard = incident.started >= incident.attempt
    patience = rules.real(SILENCE_SECONDS if heard else PATIENCE_SECONDS)
    return (now - incident.updated_at).total_seconds() >= patience


def _look_at(work: Working, incident: Incident, now: datetime) -> None:
    state = work.snapshot.executions.get(incident.execution)
    if is_overdue(incident, now):
        park(work, incident, f"overdue since {incident.deadline:%H:%M:%S}; nobody asked for it in time", now)
    elif halt(work, incident, now):
        return
    elif state is ExecutionState.ABSENT:
        work.start(incident)
    elif state is ExecutionState.ENDED:
        restart(work, incident, f"execution {incident.execution} ended with the incident open", now)

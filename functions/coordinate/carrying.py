"""Carries a decision out: holds and budgets, then leases, then incidents, and only then what the world sees.

A policy that puts itself in shadow does so once its acts are noted, before any incident says so: wherever this run
ends, those within what it may go on, the one too many pages, and nothing else of it acts.
What guards comes before the incidents that rely on it; a crash in between leaves a guard that its incident takes again.
It must not decide.
"""

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial

from functions.coordinate.parallel import Call, run_all
from functions.ports.coordination import CoordinationStore, Executions, Switchboard
from functions.ports.triage import Telemetry
from policies.coordination.snapshot import ConflictError, Decision


def commit(decision: Decision, *, store: CoordinationStore, switches: Switchboard, pool: Executor) -> None:
    """Write what *decision* changes; ConflictError when any of it changed meanwhile, DependencyError when it cannot."""
    shared, *others = decision.rounds
    _write([partial(store.write, change) for change in shared], pool)
    _write([partial(switches.put_in_shadow, shadow) for shadow in decision.shadows], pool)
    for changes in others:
        _write([partial(store.write, change) for change in changes], pool)


def _write(calls: Sequence[Call], pool: Executor) -> None:
    errors = [error for error in run_all(pool, calls) if error]
    for error in sorted(errors, key=lambda each: not isinstance(each, ConflictError)):
        raise error


def carry_effects(
    decision: Decision, *, store: CoordinationStore, executions: Executions, telemetry: Telemetry, pool: Executor
) -> dict[int, Exception]:
    """Start executions, answer asks, note the past, tell the timeline; return index of the message -> its error.

    What is kept of the past follows from incidents: what was not written now is with the next finding of its node.
    """
    new = (each for each in decision.incidents if not each.before or each.before.timeline != each.after.timeline)
    told = [*(change.after for change in new), *decision.retold]
    noted: list[Call] = [partial(store.write, change) for change in decision.past]
    starts = decision.starts
    effects: list[tuple[int | None, Call]] = [
        *((each.index, partial(executions.start, each.cluster, each.incident, each.attempt)) for each in starts),
        *((each.index, partial(executions.answer, each.token, each.answer)) for each in decision.replies),
        *((None, call) for call in noted),
        *((None, partial(store.write_lines, incident)) for incident in told),
    ]
    failed: dict[int, Exception] = {}
    for (index, call), error in zip(effects, run_all(pool, [call for _, call in effects]), strict=True):
        if error and index is None:
            what = "The past of a node" if call in noted else "A timeline item"
            telemetry.warn(f"{what} was not written; the incident itself has it.", reason=str(error))
        elif error and index is not None:
            failed[index] = error
    return failed

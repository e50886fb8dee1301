"""How an incident becomes an act of its policy: all that its own document tells of the hardware that it touched.

Decides what counts as touching hardware, and which of its own findings, checks and judgements say something of it. It
follows from the document alone, so that noting it again changes nothing. It must not know the record's other acts.
"""

from collections.abc import Iterator
from datetime import datetime

from policies.contract.rungs import GIVES_UP, MENDS, ON_HARDWARE, Rung
from policies.contract.vocabulary import Action
from policies.coordination.incident import Incident
from policies.coordination.judgements import of_hardware
from policies.coordination.notes import STAGE_OF, Stage
from policies.precision.record import Act, Grade, Ground, merged
from policies.precision.signs import Sign, grounds_of

ACTIONS = frozenset({
    Action.ISOLATE,
    Action.RESTART_SERVICE,
    Action.RESET_GPU,
    Action.REBOOT_NODE,
    Action.REPLACE_NODE,
})  # fmt: skip
"""What a policy asks for whose incidents become acts."""
_CHANGED: frozenset[Stage] = frozenset(STAGE_OF[rung] for rung in (*MENDS, Rung.REPLACE_NODE) if rung in STAGE_OF)


def may_touch(incident: Incident) -> bool:
    """Whether *incident* has touched hardware or is about to."""
    return any(each.rung in ON_HARDWARE for each in incident.rungs)


def act_of(incident: Incident) -> Act | None:
    """Return what *incident* did to hardware; None when it did nothing to any."""
    began = next((entry.at for entry in incident.timeline if entry.stage == "settled"), None)
    if began is None or not ON_HARDWARE & set(incident.done):
        return None
    replaced = Rung.REPLACE_NODE in incident.done
    successor = incident.facts.get("new_instance")
    changed = max((entry.number for entry in incident.timeline if entry.stage in _CHANGED), default=0)
    act = Act(
        incident=incident.id,
        at=began,
        node=incident.node.instance_id,
        generation=incident.generation,
        replaced=replaced,
        successor=successor if replaced and isinstance(successor, str) else "",
        changed_at=next((entry.at for entry in incident.timeline if entry.number == changed), None),
        verified_at=_last(incident, "node_verified", after=changed) if changed else None,
    )
    return act.model_copy(update={"grounds": merged(_own_grounds(incident, act))})


def _last(incident: Incident, stage: Stage, *, after: int = 0) -> datetime | None:
    found = (entry.at for entry in reversed(incident.timeline) if entry.stage == stage and entry.number > after)
    return next(found, None)


def _own_grounds(incident: Incident, act: Act) -> Iterator[Ground]:
    judged = of_hardware(incident.judgements)
    if judged:
        faulty = judged.verdict == "faulty"
        yield Ground(grade=Grade.PERSON, faulty=faulty, at=judged.at, why=judged.why, by=judged.by)
    yield from _checks(incident)
    for note in incident.findings:
        sign = Sign.noted(note, incident.node.instance_id, incident.generation)
        yield from grounds_of(act, incident.policy.name, sign)


def _checks(incident: Incident) -> Iterator[Ground]:
    """Yield what a check of the very hardware said: a failed one outranks one that passed before."""
    for failure in incident.failures:
        before = set(incident.done[: failure.behind])
        if failure.rung is Rung.VERIFY_NODE and MENDS & before and not GIVES_UP & before:
            yield Ground(grade=Grade.CHECK, faulty=True, at=failure.at, why="it failed its check after it was mended")
            return
    touched = [at for at, rung in enumerate(incident.done) if rung in MENDS | GIVES_UP]
    passed = [at for at, rung in enumerate(incident.done) if rung is Rung.VERIFY_NODE]
    if passed and Rung.ISOLATE in incident.done[: passed[0]] and (not touched or passed[0] < touched[0]):
        verified = next((entry.at for entry in incident.timeline if entry.stage == "node_verified"), None)
        if verified:
            why = "it passed its check before anything was done to it"
            yield Ground(grade=Grade.CHECK, faulty=False, at=verified, why=why)

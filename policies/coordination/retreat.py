"""A run that did not go on from its checkpoint: set that step aside and go back to the one before it, a few times.

It must not choose the step (`functions/checkpoints/choosing.py` does, without those set aside): when no complete one is
left it says so, and nothing begins at 0.
"""

from collections.abc import Sequence
from datetime import datetime

from policies.contract.rungs import Rung
from policies.contract.vocabulary import Orchestrator
from policies.coordination.endings import turn
from policies.coordination.happenings import SetAside
from policies.coordination.incident import Incident
from policies.coordination.notes import PlannedRung
from policies.coordination.plan import EXECUTORS
from policies.coordination.rules import Rules
from policies.coordination.states import IncidentStatus
from policies.coordination.working import Working

MOST_SET_ASIDE = 3  # four checkpoints that all fail to load are hardly the checkpoints' fault
_AGAIN = (Rung.SUSPEND_JOB, Rung.CHOOSE_CHECKPOINT, Rung.RESUME_JOB, Rung.CONFIRM_RESUME)
# A SageMaker training job cannot be stopped and let go again: its incident makes one successor, under one name.
_CAN_AGAIN = frozenset({Orchestrator.EKS})


def steps_set_aside(incident: Incident) -> Sequence[int]:
    """Return the steps that the run did not go on from, in the order in which they were tried."""
    aside = incident.facts.get("set_aside", ())
    return [int(step) for step in aside] if isinstance(aside, list | tuple) else []


def go_back(work: Working, incident: Incident, why: str, rules: Rules, now: datetime) -> bool:
    """Plan to stop the run and resume it from an earlier step; False when there is no such way, or no time for one.

    Past the deadline the checkpoint may be as good as any: pods that found no place have not loaded it.
    """
    step, aside = incident.facts.get("chosen_step"), steps_set_aside(incident)
    orchestrator = rules.orchestrator_of(incident.cluster, incident.job)
    if incident.status is not IncidentStatus.RESUMING or orchestrator not in _CAN_AGAIN or now >= incident.deadline:
        return False
    if type(step) is not int or step in aside or len(aside) >= MOST_SET_ASIDE:
        return False
    executors = EXECUTORS[orchestrator]
    rungs = tuple(PlannedRung(rung=rung, executor=executors[rung]) for rung in _AGAIN)
    turn(work, incident, SetAside(step, rungs, why), now)
    return True

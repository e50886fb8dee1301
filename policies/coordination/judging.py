"""A person says of an incident what it was: how its hardware was, or which policy ought to have found it before.

Decides only that the word is kept with the incident, and that the latest counts. What it means for a policy is decided
where acts are counted (`trusting.py`). It must not change anything in the world.
"""

from datetime import datetime

from policies.contract.errors import BadInputError
from policies.contract.restraints import VerdictMessage
from policies.coordination.endings import happen
from policies.coordination.happenings import Judged
from policies.coordination.judgements import judged
from policies.coordination.working import Working


def take_verdict(work: Working, message: VerdictMessage, now: datetime) -> None:
    """Keep what *message* says with its incident; again is the same. BadInputError when there is no such incident."""
    incident = work.incidents.get(message.incident)
    if incident is None:
        raise BadInputError(
            f"there is no incident {message.incident} in cluster {message.cluster}.", hint="Check id and cluster."
        )
    judgements = judged(incident.judgements, message)
    if judgements == incident.judgements:
        work.retold[incident.id] = incident
    else:
        happen(work, incident, Judged(judgements, _said(message)), now)


def _said(message: VerdictMessage) -> str:
    word = f"{message.verdict} by {message.policy}" if message.policy else message.verdict
    return f"{word}, says {message.by}{f': {message.reason}' if message.reason else ''}"

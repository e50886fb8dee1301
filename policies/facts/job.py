"""How a training job goes: ``JOB#<id>#progress``, renewed each minute while its first rank's node says so.

Decides how long what was said counts, and what follows from it. A job that nobody spoke of for five minutes is unknown,
not dead: perhaps only its first node is silent. One that is behind its newest save went back, or began anew: nobody
knows what it would lose. A save that is overdue by half has no time at which it is expected. It must not know who says
so or who asks.
"""

from collections.abc import Mapping
from datetime import datetime

from pydantic import ValidationError

from policies.contract.base import Model
from policies.contract.envelope import NodeIdentity
from policies.contract.events import FaultEvent, Scalar
from policies.contract.times import Moment
from policies.facts.fact import About, Fact, FactDocument, FactType, of_job

ALIVE, STEPS_AT_RISK, VALUE = "job.alive", "job.steps_at_risk", "job.value"
SINCE, UNTIL = "job.minutes_since_checkpoint", "job.minutes_to_checkpoint"
SIZE_SECONDS = 900.0  # as long as a node that was heard counts among the fleet (functions/adapters/sizes.py)
FRESH_SECONDS = 300.0  # five writes; after that nobody knows any more
_EXPECTED_UNTIL = 1.5  # times the usual distance between two saves
LONGEST_KEY = 900  # bytes of an id: a sort key has at most 1,024 (DynamoDB, quotas)


def fits_key(name: str) -> bool:
    """Whether *name*, which training or a person chose, can stand in a key of the fleet table as it is."""
    return len(name.encode("utf-8", "replace")) <= LONGEST_KEY


class Progress(Model):
    """What was said of a job ``at`` some moment, all by the pipeline's clock; what is unknown is None.

    ``saved_step`` and ``saved_at``: the newest whole checkpoint. ``save_seconds``: what usually lies between
    two. Older documents hold more, which nobody asks for.
    """

    at: Moment
    world_size: int | None = None
    alive: bool | None = None
    step: int | None = None
    saved_step: int | None = None
    saved_at: Moment | None = None
    save_seconds: float | None = None
    value: float | None = None

    def after(self, before: "Progress") -> "Progress":
        """Return this with the newest save of both: a run that was started again has told none yet."""
        if before.saved_at is None or (self.saved_at is not None and self.saved_at >= before.saved_at):
            return self
        saved = {"saved_step": before.saved_step, "saved_at": before.saved_at}
        return self.model_copy(update={**saved, "save_seconds": self.save_seconds or before.save_seconds})

    @property
    def is_behind_its_save(self) -> bool:
        """Whether it trains where it has trained before."""
        return self.step is not None and self.saved_step is not None and self.step < self.saved_step


def _answer(document: Progress | None, about: About) -> Mapping[str, Scalar]:
    if document is None:
        return {}
    fresh = (about.now - document.at).total_seconds() <= FRESH_SECONDS
    members: Mapping[str, Scalar | None] = {
        VALUE: document.value,
        **(_saves(document, about.now) | {ALIVE: document.alive} if fresh else {}),
    }
    return {member: value for member, value in members.items() if value is not None}


def _saves(document: Progress, now: datetime) -> dict[str, Scalar | None]:
    if document.saved_at is None or document.is_behind_its_save:
        return {}
    since, usual = max(0.0, (now - document.saved_at).total_seconds()), document.save_seconds
    expected = usual is not None and since <= _EXPECTED_UNTIL * usual
    known = document.step is not None and document.saved_step is not None
    return {
        SINCE: round(since / 60, 2),
        UNTIL: round(max(0.0, usual - since) / 60, 2) if expected and usual is not None else None,
        STEPS_AT_RISK: (document.step or 0) - (document.saved_step or 0) if known else None,
    }


def _subject(event: FaultEvent, node: NodeIdentity) -> str | None:
    """A job whose id makes no key has no document: asked for all the same, it would stop a whole batch."""
    job = of_job(event, node)
    return job if job is None or fits_key(job) else None


def ranks_of(text: str | None, now: datetime) -> int | None:
    """Return how many ranks the job has by its document's *text*; None when nobody has said so for a quarter hour."""
    try:
        document = Progress.model_validate_json(text) if text else None
    except ValidationError:
        return None
    fresh = document is not None and (now - document.at).total_seconds() <= SIZE_SECONDS
    return document.world_size if document and fresh else None


JOB = FactDocument(
    name="job",
    facts=(
        Fact(ALIVE, FactType.FLAG, "its first rank is there and beats as it usually does"),
        Fact(STEPS_AT_RISK, FactType.WHOLE, "steps made since its newest whole checkpoint"),
        Fact(SINCE, FactType.NUMBER, "how old its newest whole checkpoint is, as training says"),
        Fact(UNTIL, FactType.NUMBER, "until the next one is usually whole; unknown when it is overdue by half"),
        Fact(VALUE, FactType.NUMBER, "how dear its operator says it is (`RELIGHT_JOB_VALUE` or the job file)"),
    ),
    subject=_subject,
    sort_key=lambda job: f"JOB#{job}#progress",
    parse=Progress.model_validate_json,
    answer=_answer,
    as_of=lambda document: document.at,
)

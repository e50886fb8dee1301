"""How a training job goes, as the node says on which its first rank runs: a remark in an envelope, no event.

Times are ages in seconds as of the envelope's ``sent_at``, measured by a clock that nobody sets: whoever receives them
counts back from when they arrived. It must not know what an age is good for.
"""

from typing import Annotated

from pydantic import Field

from policies.contract.base import LARGEST_NUMBER, Model
from policies.contract.events import LONGEST_JOB_ID
from policies.contract.vocabulary import Orchestrator

MOST_JOBS = 8  # of one envelope; a node trains one job, or a few small ones
LARGEST_VALUE = 1e15
Seconds = Annotated[float, Field(ge=0, le=LARGEST_NUMBER, allow_inf_nan=False)]
Step = Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]


class JobProgress(Model):
    """One job; what is not known is left out.

    ``alive``: its first rank here is there and beats as it usually does. ``moved_ago``: since its step went on.
    ``saved_step`` and ``saved_ago``: the newest checkpoint that training called whole. ``save_seconds`` and
    ``step_seconds``: what usually lies between two. ``value``: an operator's number, more is dearer.
    """

    id: Annotated[str, Field(min_length=1, max_length=LONGEST_JOB_ID)]
    orchestrator: Orchestrator | None = None
    world_size: Annotated[int, Field(ge=1, le=LARGEST_NUMBER)] | None = None
    alive: bool | None = None
    step: Step | None = None
    moved_ago: Seconds | None = None
    step_seconds: Seconds | None = None
    saved_step: Step | None = None
    saved_ago: Seconds | None = None
    save_seconds: Seconds | None = None
    value: Annotated[float, Field(ge=0, le=LARGEST_VALUE, allow_inf_nan=False)] | None = None

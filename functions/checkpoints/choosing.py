"""Choose the checkpoint to resume from, in the job's bucket.

Waits for what is still being written, then takes the newest complete one, with the reasons for each newer one that was
refused. It fails rather than start from nothing: that a place holds no complete checkpoint may mean that it is the
wrong place.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from functions.acts.act import ActContext
from functions.acts.support import Pace, text_of
from functions.checkpoints.corruption import first_corruption
from functions.checkpoints.reading import reader_at, tree_at
from functions.ports.objects import Location, Objects
from policies.checkpoints.choose import choose, run
from policies.checkpoints.model import Choice, Refused
from policies.contract.decisions import RungReport
from policies.contract.errors import BadInputError

MOST_REFUSED = 16
"""Reasons kept on the incident, newest first; `relight checkpoints inspect` shows them all."""


@dataclass(frozen=True)
class Quiet:
    """What changed within ``seconds`` may still be written; it is waited for at most ``patience`` seconds.

    An uploader may go on for minutes after its job stopped, but training should go on within 15.
    """

    seconds: float = 15.0
    patience: float = 120.0


class ChooseCheckpoint:
    """The act."""

    def __init__(self, *, objects: Objects, pace: Pace, quiet: Quiet) -> None:
        """Take the ports. *quiet* is in real seconds times the pace's scale."""
        self._objects = objects
        self._pace = pace
        self._quiet = quiet

    def advance(self, context: ActContext) -> RungReport:
        """Outcome: chosen_step, checkpoint (its address), checkpoints (where they lie), layout, refused."""
        place = text_of(context.facts, "checkpoints") or (context.job.checkpoint if context.job else None) or ""
        try:
            where = _allowed(context, place)
        except BadInputError as error:
            return context.failed(str(error))
        choice = self._choose(context, where)
        if self._should_wait(context, choice):
            return self._pace.wait(context, f"step {choice.refused[0].step} is still being written")
        if choice.chosen_step is None:
            return context.failed(_why_none(where, choice), refused=_told(choice.refused))
        return context.done(
            chosen_step=choice.chosen_step,
            checkpoint=where.address(choice.path),
            checkpoints=where.address(),
            layout=choice.layout,
            refused=_told(choice.refused),
            **({"suspect": True} if choice.suspect else {}),
            **({"doubts": list(choice.doubts)} if choice.doubts else {}),
        )

    def _choose(self, context: ActContext, where: Location) -> Choice:
        aside = context.facts.get("set_aside")
        work = choose(
            tree_at(self._objects, where),
            now=context.now,
            quiet_seconds=self._quiet.seconds * self._pace.scale,
            before=first_corruption(context.findings),
            set_aside=[int(step) for step in aside] if isinstance(aside, list | tuple) else (),
        )
        return run(work, reader_at(self._objects, where))

    def _should_wait(self, context: ActContext, choice: Choice) -> bool:
        patient = context.now < context.intended_at + timedelta(seconds=self._quiet.patience * self._pace.scale)
        return patient and any(refused.unsettled for refused in choice.refused)


def _allowed(context: ActContext, place: str) -> Location:
    if not place:
        raise BadInputError(
            "nobody says where the checkpoints lie.",
            hint="Annotate the job with relight.dev/checkpoints: s3://bucket/prefix, or say it in the job file.",
        )
    where = Location.parse(place)
    buckets = context.cluster.checkpoint_buckets
    if where.bucket not in buckets:
        raise BadInputError(
            f"bucket {where.bucket} is none of cluster {context.cluster.name}'s checkpoint buckets.",
            hint="Add it to checkpoint_buckets of the cluster's settings and deploy.",
        )
    return where


def _why_none(where: Location, choice: Choice) -> str:
    if not choice.seen:
        return f"no checkpoint lies under {where.address()}; resume by hand, from the right place or from the start"
    first = choice.refused[0] if choice.refused else None
    newest = f" (newest: step {first.step}, {first.reason})" if first else ""
    return f"none of {choice.seen} checkpoints under {where.address()} is complete{newest}; resume by hand"


def _told(refused: Sequence[Refused]) -> list[dict[str, Any]]:
    return [{"step": each.step, "reason": each.reason} for each in refused[:MOST_REFUSED]]

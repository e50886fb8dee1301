"""Confirm that the job runs on from the chosen step: what it writes after the restart proves it, nothing else does.

Either the progress object (`relight-progress.json`: {step, resumed_from, at}, written by the training side) or a
checkpoint past the chosen one. A first step behind the chosen one means that the job did not load what it was told to:
that fails, since every further hour would be lost work. Times are the bucket's, so that no clock of a node counts.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from functions.acts.act import ActContext
from functions.acts.support import Pace, moment_of, number_of, text_of
from functions.ports.objects import Location, Objects
from policies.checkpoints.layouts import find_candidates
from policies.checkpoints.listing import Tree
from policies.contract.decisions import RungReport

PROGRESS = "relight-progress.json"
_ONE_SECOND = timedelta(seconds=1)  # S3 tells LastModified in whole seconds


@dataclass(frozen=True)
class _Sign:
    """The furthest step that was written since the restart, and by what; ``behind`` when it did not load the chosen."""

    step: int
    by: str
    behind: bool = False


class ConfirmResume:
    """The act."""

    def __init__(self, *, objects: Objects, pace: Pace) -> None:
        """Take the ports."""
        self._objects = objects
        self._pace = pace

    def advance(self, context: ActContext) -> RungReport:
        """Outcome: confirmed_step."""
        chosen, place = number_of(context.facts, "chosen_step"), text_of(context.facts, "checkpoints")
        since = moment_of(context.facts, "resumed_at")
        if chosen is None or since is None or not place:
            return context.failed("the job was not resumed; resume_job comes before confirm_resume")
        sign = self._look(Location.parse(place), chosen, since - _ONE_SECOND)
        if sign and sign.behind:
            return context.failed(
                f"{sign.by} reports step {sign.step} after the restart, behind the chosen step {chosen}:"
                " the job did not load it; stop it and look at its resume logic"
            )
        if sign and sign.step > chosen:
            return context.done(confirmed_step=sign.step, confirmed_by=sign.by)
        return self._pace.wait(context, f"no step past {chosen} was reported since the restart")

    def _look(self, where: Location, chosen: int, since: datetime) -> _Sign | None:
        tree = Tree.of(self._objects.list(where))
        progress = tree.direct("").get(PROGRESS)
        if progress is not None and progress.modified >= since:
            sign = self._read(where, chosen)
            if sign:
                return sign
        newer = [
            candidate
            for candidate in find_candidates(tree)
            if candidate.step > chosen and candidate.changed_at and candidate.changed_at >= since
        ]
        furthest = max(newer, key=lambda candidate: candidate.step, default=None)
        return _Sign(furthest.step, furthest.path) if furthest else None

    def _read(self, where: Location, chosen: int) -> _Sign | None:
        stored = self._objects.get(where.bucket, where.key(PROGRESS))
        told = _parse(stored.body) if stored else {}
        step, begun = number_of(told, "step"), number_of(told, "resumed_from")
        if step is None:
            return None
        return _Sign(step, PROGRESS, behind=step < chosen or (begun is not None and begun < chosen))


def _parse(body: bytes) -> dict[str, Any]:
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}

"""Ask the training processes of this node to save now, by the token in their beat files, and wait until they have.

The token is the only thing that the agent writes there. It worked when every process that was asked has answered with
it. It must not know what a checkpoint is.
"""

import os
import stat
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

from agent.commands.doing import Errand, Outcome, Resource
from agent.job.beat import MAGIC, SIZE, TOKEN_OFFSET, Phase
from agent.job.matching import Matched
from policies.contract.commands.operations import RequestSave
from policies.contract.events import Scalar

_TOKEN = struct.Struct("<Q")
_LOOK_SECONDS = 0.5


class RequestsSave:
    """`request_save`."""

    resource = Resource.SAVE

    def __init__(self, beats: Path, beating: Callable[[], Sequence[Matched]]) -> None:
        """Write into the files of the folder *beats*; *beating* tells who lives and what each says."""
        self._beats = beats
        self._beating = beating

    def why_not(self, params: RequestSave) -> str:
        """Refuse where nobody would hear it."""
        return "" if self._asked(params) else f"no process beats here{f' for job {params.job}' if params.job else ''}"

    def run(self, params: RequestSave, errand: Errand) -> Outcome:
        """Write the token, then wait for every answer."""
        asked = {one.name for one in self._asked(params)}
        for name in sorted(asked):
            write_token(self._beats / name, params.token)
        return self._answered(params, asked, errand)

    def look_back(self, params: RequestSave, errand: Errand) -> Outcome:
        """Whoever lives still has the token in its file, or has answered."""
        if errand.rebooted:
            return Outcome(ok=False, reason="the node was started anew: nobody is there to save")
        left = Errand(errand.id, errand.claim, min(errand.left, 2 * _LOOK_SECONDS), errand.stop)
        return self._answered(params, {one.name for one in self._asked(params)}, left)

    def _asked(self, params: RequestSave) -> list[Matched]:
        return [
            one
            for one in self._beating()
            if one.process and one.beat.phase is not Phase.ENDED and params.job in ("", one.beat.job)
        ]

    def _answered(self, params: RequestSave, asked: set[str], errand: Errand) -> Outcome:
        now: dict[str, Matched] = {}

        def is_settled() -> bool:
            now.update((one.name, one) for one in self._beating() if one.name in asked)
            return all(_has_saved(now.get(name), params.token) or not _lives(now.get(name)) for name in asked)

        errand.until(is_settled, errand.left, every=_LOOK_SECONDS)
        saved = [one for name in asked if (one := now.get(name)) and _has_saved(one, params.token)]
        steps = sorted({one.beat.saved_step for one in saved if one.beat.saved_step is not None})
        facts: dict[str, Scalar] = {"asked": len(asked), "saved": len(saved)}
        facts |= {"step": steps[0]} if steps else {}
        if asked and len(saved) == len(asked) and len(steps) <= 1:
            return Outcome(ok=True, facts=facts)
        missing = len(asked) - len(saved)
        why = (
            f"{missing} of {len(asked)} processes have not saved" if missing else f"they saved different steps: {steps}"
        )
        return Outcome(ok=False, reason=why if asked else "no process beats here any more", facts=facts)


def write_token(path: Path, token: int) -> None:
    """Write *token* into the beat file at *path*, and nothing else; OSError where that is none any more."""
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        is_one = stat.S_ISREG(status.st_mode) and status.st_size >= SIZE
        if not is_one or os.pread(descriptor, len(MAGIC), 0) != MAGIC:
            raise OSError(None, "is no beat file", str(path))
        os.pwrite(descriptor, _TOKEN.pack(token), TOKEN_OFFSET)
    finally:
        os.close(descriptor)


def _has_saved(one: Matched | None, token: int) -> bool:
    return one is not None and one.beat.saved_token == token


def _lives(one: Matched | None) -> bool:
    return one is not None and one.process is not None and one.process.is_alive and one.beat.phase is not Phase.ENDED

"""Who writes a rank's log.

Decides how often the system is asked. It must not know lines.
"""

import time
from pathlib import Path

from agent.processes import job_of_process, rank_of_process, writers_of
from agent.training_logs.selection import Candidate
from policies.contract.events import JobRef

_ASKED_AGAIN_SECONDS = 60.0


class WriterOf:
    """The job and rank of the process that writes a file, looked for when there is a fault, at most once a minute."""

    def __init__(self, candidate: Candidate, proc: Path) -> None:
        """Nobody was asked yet."""
        self._candidate = candidate
        self._proc = proc
        self._looked_at: float | None = None
        self._found: JobRef | None = None

    def __call__(self) -> JobRef | None:
        """Return the job; with an empty id where only the rank is known."""
        now = time.monotonic()
        if self._looked_at is None or (self._found is None and now - self._looked_at > _ASKED_AGAIN_SECONDS):
            self._looked_at = now
            pids = writers_of(self._candidate.inode, self._candidate.device, self._proc)
            self._found = next(filter(None, map(self._of, pids)), None)
        return self._found

    def _of(self, pid: int) -> JobRef | None:
        rank = rank_of_process(pid, self._proc)
        return job_of_process(pid, self._proc) or (JobRef(id="", rank=rank) if rank is not None else None)

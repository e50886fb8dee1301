"""What the node says of its jobs in the next envelope: put here by who measures, taken by who sends.

Decides that only what is fresh is said, and how much of it. Ages go on between the look and the envelope. Safe for two
threads: the list is put in place as one. It must not know how a job is measured or an envelope is sent.
"""

from collections.abc import Callable, Sequence

from policies.contract.progress import MOST_JOBS, JobProgress

FRESH_SECONDS = 60.0  # six looks: whoever looks no more is told by the watch over the sources, not by old ages
LIMIT_BYTES = 3 * 1024  # of an envelope's head


class JobsTold:
    """The jobs of this node; `__call__` returns them as the JSON of an envelope's ``jobs``, empty when there is none.

    *ticks* is seconds since boot.
    """

    def __init__(self, ticks: Callable[[], float]) -> None:
        """Nothing was said yet."""
        self._ticks = ticks
        self._said: tuple[float, Sequence[JobProgress]] = (float("-inf"), ())

    def put(self, jobs: Sequence[JobProgress], ticks: float) -> None:
        """Say this of all jobs here, as of *ticks*."""
        self._said = ticks, tuple(jobs[:MOST_JOBS])

    def __call__(self) -> bytes:
        """Return what is said now; never raises, never waits."""
        at, jobs = self._said
        passed = self._ticks() - at
        if not jobs or not 0 <= passed <= FRESH_SECONDS:
            return b""
        texts, size = list[bytes](), 0
        for job in jobs:
            text = _aged(job, passed).to_json().encode()
            size += len(text) + 1
            if size < LIMIT_BYTES:
                texts.append(text)
        return b"[%b]" % b",".join(texts) if texts else b""


def _aged(job: JobProgress, passed: float) -> JobProgress:
    ages = {"moved_ago": job.moved_ago, "saved_ago": job.saved_ago}
    return job.model_copy(update={name: round(age + passed, 1) for name, age in ages.items() if age is not None})

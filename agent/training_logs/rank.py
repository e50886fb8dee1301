"""One rank's log: what its lines say happened, to whom, and where in training.

A timeout or a lost peer is told of the process that printed it, which is usually the victim: no event from here names a
GPU or the node as its component. How a process ended says less than why: an exit code or a kill after a stronger word
of the same log names that word as its cause. Decides what of a job is known, the nearest evidence first: the line, the
file's name, the process that writes the file, the job file; where none of them knows, what the node does. It must not
know files beyond their names.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from agent.coalesce import Seen
from agent.follow.reader import LogRecord
from agent.job_file import JobSource
from agent.parsers.rank_log import LossWatch
from agent.parsers.sighting import Sighting, known
from agent.parsers.training import parse_training_line
from agent.training_logs.whereabouts import Progress, read_name
from policies.contract.events import JobRef, Scalar
from policies.contract.vocabulary import Kind


def no_job() -> JobRef | None:
    """Know of no job."""
    return None


Writer = Callable[[], JobRef | None]
"""Returns the job of the process that writes the log, asked when there is a fault; an empty id: only its rank."""


@dataclass(frozen=True, slots=True)
class JobSources:
    """What is asked for the job: the ``file``, which wins, and ``node``, what the node itself knows, at last."""

    file: JobSource
    node: JobSource = no_job


_ENDINGS = frozenset({Kind.TRAINING_KILLED, Kind.PROCESS_EXITED, Kind.JOB_FAILED})
_NAME_KEPT = 200
_SAME_END_TICKS = 10 * 60 * 1_000_000  # a launcher waits minutes for its children


class RankLog:
    """What is known of one rank's log while it is followed."""

    def __init__(self, path: Path, jobs: JobSources, writer: Writer) -> None:
        """Nothing was read yet."""
        self._name = read_name(path)
        self._file = str(path)
        self._jobs = jobs
        self._writer = writer
        self._progress = Progress()
        self._loss = LossWatch()
        self._cause: tuple[Kind, int] | None = None

    def classify(self, item: LogRecord) -> list[Sighting]:
        """Return what *item* tells of."""
        text = item.record.text
        self._progress.read(text)
        found = parse_training_line(text) or (self._loss.take(text) if "oss" in text else [])
        return [self._noted(sighting, item.ticks) for sighting in found]

    def _noted(self, sighting: Sighting, ticks: int) -> Sighting:
        noted: dict[str, Scalar] = {**self._where(), **sighting.attributes, "file": self._file[-_NAME_KEPT:]}
        if sighting.kind not in _ENDINGS:
            self._cause = self._cause or (sighting.kind, ticks)
        elif self._cause is not None and ticks - self._cause[1] < _SAME_END_TICKS:
            noted["after"] = self._cause[0].value
            self._cause = None
        return replace(sighting, attributes=noted)

    def _where(self) -> dict[str, Scalar]:
        """What the log itself tells, so that an event says it even where nobody knows the job."""
        return known(
            rank=self._name.rank,
            step=self._progress.step,
            epoch=self._progress.epoch,
            pod=self._name.pod or None,
        )

    def job(self, seen: Seen) -> JobRef | None:
        """Return the job and where it is, as far as anything tells."""
        told, written = self._jobs.file(), self._writer()
        named = self._name.job
        here = self._jobs.node()
        found = told or named or (written if written and written.id else None) or here
        if found is None:
            return None
        said = seen.sighting.attributes.get("rank")  # the line's word, else the name's
        ranks = (said if isinstance(said, int) else None, written.rank if written else None)
        nearer = {
            "world_size": found.world_size or (here.world_size if here and here.id == found.id else None),
            "rank": next((rank for rank in ranks if rank is not None), found.rank),
            "step": self._progress.step if self._progress.step is not None else found.step,
            "epoch": self._progress.epoch if self._progress.epoch is not None else found.epoch,
        }
        return found.model_copy(update=nearer)

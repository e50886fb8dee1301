"""How jobs go, kept for the policies that ask: at most once a minute a job, the newest word wins.

Decides which words are worth a write, and what of the document before still holds: the newest save, which a run that
was started again does not know. A warm worker remembers what it wrote. It must not know how documents are kept.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from functions.ports.facts import FactKey, FactReader
from functions.ports.progress import ProgressWriter, Word
from functions.ports.triage import NodeKey
from functions.triage.sorting import Arrival, is_sign_of_life
from policies.contract.progress import JobProgress
from policies.facts.job import JOB, Progress, fits_key

INTERVAL = timedelta(seconds=54)  # two heartbeats a minute come: every second one is written, early or late
KEPT = timedelta(days=7)  # a run that waits for capacity over a weekend still knows its newest save
MOST_REMEMBERED = 10_000
_MANY_SECONDS = 10 * 365 * 86_400.0


class ProgressBook:
    """What this worker has written lately."""

    def __init__(self, reader: FactReader, writer: ProgressWriter, interval: timedelta = INTERVAL) -> None:
        """Read with *reader*, write with *writer*, each job once in *interval*."""
        self._reader, self._writer, self._interval = reader, writer, interval
        self._written: dict[FactKey, datetime] = {}

    def note(self, nodes: Mapping[NodeKey, Sequence[Arrival]]) -> None:
        """Keep what *nodes* say of jobs, where nothing was kept within the interval.

        Raises the first DependencyError after all that could be written is.
        """
        due = {key: one for key, one in _newest(nodes).items() if self._is_due(key, one)}
        if not due:
            return
        before = self._reader.read(due.keys())
        if len(self._written) > MOST_REMEMBERED:
            self._written.clear()
        words = {key: _word(progress, _understood(before.get(key))) for key, progress in due.items()}
        failed = self._writer.keep_newest(words)
        self._written |= {key: word.at for key, word in words.items() if key not in failed}
        if failed:
            raise next(iter(failed.values()))

    def _is_due(self, key: FactKey, progress: Progress) -> bool:
        before = self._written.get(key)
        return before is None or progress.at - before >= self._interval


def _word(progress: Progress, known: Progress | None) -> Word:
    told = progress.after(known) if known else progress
    return Word(told.to_json(), progress.at, progress.at + KEPT)


def _newest(nodes: Mapping[NodeKey, Sequence[Arrival]]) -> dict[FactKey, Progress]:
    found: dict[FactKey, Progress] = {}
    for node, progress, job in _told(nodes):
        key = FactKey(node.cluster, JOB.name, job)
        if key not in found or progress.at > found[key].at:
            found[key] = progress
    return found


def _told(nodes: Mapping[NodeKey, Sequence[Arrival]]) -> Iterable[tuple[NodeKey, Progress, str]]:
    for node, arrivals in nodes.items():
        for arrival in arrivals:
            envelope = arrival.delivery.parsed.envelope
            if envelope.jobs and is_sign_of_life(envelope):
                for job in envelope.jobs:
                    if fits_key(job.id):
                        yield node, _progress(job, arrival.record.arrived_at), job.id


def _progress(job: JobProgress, at: datetime) -> Progress:
    return Progress(
        at=at,
        world_size=job.world_size,
        alive=job.alive,
        step=job.step,
        saved_step=job.saved_step,
        saved_at=_before(at, job.saved_ago),
        save_seconds=job.save_seconds,
        value=job.value,
    )


def _before(at: datetime, ago: float | None) -> datetime | None:
    return None if ago is None else at - timedelta(seconds=min(ago, _MANY_SECONDS))


def _understood(text: str | None) -> Progress | None:
    try:
        return None if text is None else JOB.parse(text)
    except ValueError:
        return None  # it is written over

"""Training logs as a source: one thread follows the logs of all ranks on this node.

Each file has its own place and its own bursts in the spool (`training_log:<path>`), dropped when the file is gone.
Decides when to look for new files and which are given up for want of room, which is told. It must not know what a line
means.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from agent.coalesce import Seen
from agent.events import EventMaker, JobFinder
from agent.follow.places import FilePlace
from agent.follow.reader import FixedPlace, LogGap
from agent.follow.tail import FileTail
from agent.follow.watch import FileWatch
from agent.follow.work import READ_SECONDS, LogWork
from agent.processes import PROC
from agent.spool.spool import Spool
from agent.spool.state import Progress
from agent.training_logs.followed import Followed
from agent.training_logs.lines import parse_rank_line
from agent.training_logs.rank import JobSources, RankLog
from agent.training_logs.selection import Candidate, Selection, matching
from agent.training_logs.writer import WriterOf
from policies.contract.events import JobRef
from policies.contract.vocabulary import Source

log = logging.getLogger(__name__)

NAME = Source.TRAINING_LOG.value
_LOOK_SECONDS = 2.0  # a rank that dies at its start has a new file for so long before it is read
_NOTE_SECONDS = 30.0
_BARRED_SECONDS = 60.0
MakeMaker = Callable[[JobFinder], EventMaker]


@dataclass(frozen=True, slots=True)
class TrainingLogSettings:
    """Which files (glob patterns), and how many of them at most."""

    patterns: tuple[str, ...]
    at_most: int = 64


class TrainingLogSource:
    """One thread's work: `run` until told to stop."""

    def __init__(
        self,
        settings: TrainingLogSettings,
        spool: Spool,
        maker: MakeMaker,
        jobs: JobSources,
        *,
        clock: Callable[[], datetime],
        proc: Path = PROC,
    ) -> None:
        """Read what *settings* name; events go to *spool*, made by what *maker* returns for a file."""
        self._settings = settings
        self._spool = spool
        self._maker = maker
        self._jobs = jobs
        self._clock = clock
        self._proc = proc
        self._left_out = 0
        self._noted_at = 0.0
        self._barred: dict[Path, float] = {}  # files that cannot be read, and until when they are left alone

    def run(self, stop: threading.Event) -> None:
        """Read until *stop*; OSError when the system has no descriptors left: call it again later."""
        place = self._spool.progress(NAME)
        selection = Selection(self._settings.at_most, place.cursor["looked"] if place else None)
        watch, files = FileWatch(poll_seconds=0.1), dict[Path, Followed]()
        next_look = 0.0
        try:
            while not stop.is_set():
                if time.monotonic() >= next_look:
                    self._look(selection, files, watch)
                    next_look = time.monotonic() + _LOOK_SECONDS
                more = [self._step(path, one, files) for path, one in [*files.items()]]  # each has its turn
                if not any(more):
                    watch.wait(READ_SECONDS)
            for one in files.values():
                one.work.finish()
        finally:
            for one in files.values():
                one.tail.close()
            watch.close()

    def _look(self, selection: Selection, files: dict[Path, Followed], watch: FileWatch) -> None:
        """Take up new files, let go of those that are not among the chosen any more."""
        now = self._clock().timestamp()
        found = matching(self._settings.patterns)
        self._resume(found, files, watch)
        inodes = {path: one.tail.inode for path, one in files.items()}
        chosen = {one.path: one for one in selection.choose(found, inodes, now)}
        there = {one.path for one in found}
        for path in [path for path in files if path not in chosen and not _is_moved(files[path], path, found)]:
            self._let_go(path, files, gone=path not in there)
        for path, candidate in chosen.items():
            if path not in files and self._barred.get(path, 0.0) <= time.monotonic():
                before = selection.rotated_unread(candidate, found)
                files[path] = self._follow(candidate, selection.start_of(candidate), watch, before)
                selection.begin(candidate)
        self._note(selection.left_out, now)

    def _step(self, path: Path, one: Followed, files: dict[Path, Followed]) -> bool:
        """Handle what is new in one file; one that cannot be read stops no other, and is tried again later."""
        try:
            return one.step()
        except OSError as error:
            if path not in self._barred:
                log.warning("training log cannot be read", extra={"path": str(path), "error": error.strerror})
            self._barred[path] = time.monotonic() + _BARRED_SECONDS
            files.pop(path).tail.close()
            return False

    def _note(self, left_out: int, now: float) -> None:
        """Tell of files that nobody reads, once, and write down when we looked."""
        events = []
        if left_out and not self._left_out:
            log.warning("more ranks' logs than are followed", extra={"left_out": left_out})
            gap = self._maker(_no_job).gap(
                reason="too_many_files", key=f"left_out:{now:.0f}", at=self._clock(), lost=None
            )
            events.append(gap)
        self._left_out = left_out
        if events or now - self._noted_at >= _NOTE_SECONDS:
            self._spool.append(events, Progress(NAME, {"looked": now}))
            self._noted_at = now

    def _resume(self, found: Sequence[Candidate], files: dict[Path, Followed], watch: FileWatch) -> None:
        """At the first look after a restart open what has a place: which rotated file is whose shows only then."""
        if files:
            return
        for candidate in found[: self._settings.at_most]:
            if self._spool.progress(_name(candidate.path)):
                files[candidate.path] = one = self._follow(candidate, 0, watch)
                self._step(candidate.path, one, files)

    def _follow(self, candidate: Candidate, start: int, watch: FileWatch, before: Candidate | None = None) -> Followed:
        path, name = candidate.path, _name(candidate.path)
        place = self._spool.progress(name)
        rank = RankLog(path, self._jobs, WriterOf(candidate, self._proc))
        tail = FileTail(
            path,
            place.cursor if place else FilePlace(0, 0, b"", before.inode).as_json() if before else None,
            clock=self._clock,
            start=start,
            watch=watch,
            parse=parse_rank_line,
        )
        work = LogWork(name, self._spool, self._maker(rank.job), rank.classify, place)
        return Followed(path, tail, work)

    def _let_go(self, path: Path, files: dict[Path, Followed], *, gone: bool) -> None:
        """Read to the end what can be read; forget the place of a file that is gone."""
        one = files[path]
        self._step(path, one, files)
        if path in files and self._step(path, one, files):
            at = self._clock()
            place = FixedPlace(one.last_position or {})
            one.work.take([LogGap("too_many_files", f"{path}:{at.timestamp():.3f}", at, place)])
        if files.pop(path, None):
            one.work.finish()
            one.tail.close()
        if gone:
            self._barred.pop(path, None)
            self._noted_at = 0.0  # what it was rotated to is old from now on
            self._spool.append([], Progress(_name(path), None))


def _is_moved(one: Followed, path: Path, found: Sequence[Candidate]) -> bool:
    """Tell whether the file is there under another name and none is under its own: in the middle of a rotation."""
    names = {other.path for other in found}
    return path not in names and any(other.inode == one.tail.inode for other in found)


def _no_job(_seen: Seen) -> JobRef | None:
    return None


def _name(path: Path) -> str:
    return f"{NAME}:{path}"

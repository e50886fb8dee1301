"""Parts of replays in processes of their own, side by side.

Decides which run, what becomes of a side whose parts are worth nothing, and that nothing is left running: not when one
fails or is killed, not at Ctrl-C, not when this process is killed itself. Processes are started anew (spawn): whoever
asks may have threads, which a fork would tear apart, and connections, which two must not share. What is unpickled comes
from them alone, through a pipe. It must not know what a replay does.
"""

import os
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from threading import Thread

from functions.ports.archive import ArchiveReader
from functions.triage.collector import calm_collector
from policies.contract.errors import RelightError
from simulator.parts import WHOLE, Part
from simulator.sides import Piece, Side, replay_part

Opener = Callable[[], ArchiveReader]
"""Opens the archive in another process. It is pickled: a function by its name, or a partial of one."""
Heard = Callable[[str, float], None]
GRACE_SECONDS = 5.0
_INTERRUPT = {signal.SIGINT}


class WorkerError(RelightError):
    """A process that was to tell a part of the past is gone, or never was there."""


@dataclass(frozen=True)
class Failed:
    """An error of ours, as it comes through a pipe."""

    kind: type[RelightError]
    message: str
    hint: str


@dataclass
class _Worker:
    process: SpawnProcess
    side: Side
    part: Part
    share: float = 0.0
    piece: Piece | None = None


def replay_side_by_side(
    sides: Mapping[str, tuple[Side, Sequence[Part]]], opener: Opener, heard: Heard
) -> tuple[Mapping[str, Sequence[Piece]], Sequence[str]]:
    """Return the pieces of each of *sides*, by name, and the names of those that had to be told whole after all.

    Raises:
        WorkerError: a process died.
        RelightError: as `replay_part` does.
    """
    whole: list[str] = []
    with _crew(opener) as crew:
        for side, parts in sides.values():
            for part in parts:
                crew.start(side, part)
        while running := crew.running:
            for connection in wait(running):
                assert isinstance(connection, Connection)
                worker = crew.workers.get(connection)
                if worker is None:
                    continue  # ended a moment ago, with its fellows
                said = _said(connection, worker)
                if said is None:
                    crew.end(worker.side.name)
                    crew.start(worker.side, WHOLE)
                    whole.append(worker.side.name)
                elif isinstance(said, Piece):
                    worker.piece, worker.share = said, 1.0
                else:
                    worker.share = said
                heard(worker.side.name, crew.share(worker.side.name))
        return {name: crew.pieces(name) for name in sides}, whole


def _said(connection: Connection, worker: _Worker) -> Piece | float | None:
    try:
        said: Piece | Failed | float | None = connection.recv()
    except (EOFError, ConnectionError):
        raise _gone(worker) from None
    if isinstance(said, Failed):
        raise said.kind(said.message, hint=said.hint)
    return said


def _gone(worker: _Worker) -> WorkerError:
    worker.process.join(GRACE_SECONDS)
    status = worker.process.exitcode
    hint = "With --jobs 1 it takes the least memory; with --resume it goes on where it was."
    if status is not None and status < 0:
        told = f"a process that replayed ({worker.side.name}) was killed by signal {-status}: was memory short?"
    else:
        told = f"a process that replayed ({worker.side.name}) broke off with status {status}; it said why above."
    return WorkerError(told, hint=hint)


class _Crew:
    """The processes that were started; ``workers`` are those not ended, by where they are heard."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self.workers: dict[Connection, _Worker] = {}

    @property
    def running(self) -> Sequence[Connection]:
        return [connection for connection, worker in self.workers.items() if worker.piece is None]

    def start(self, side: Side, part: Part) -> None:
        context = get_context("spawn")
        mine, theirs = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(theirs, side, part, self._opener), daemon=True)
        with theirs, _deaf():
            try:
                process.start()
            except OSError as error:  # no room for one, or it was killed before it knew what to do
                mine.close()
                told = f"a process to replay in could not be started ({error.strerror})."
                raise WorkerError(told, hint="With --jobs 1 none is.") from error
        self.workers[mine] = _Worker(process, side, part)

    def share(self, name: str) -> float:
        return min(worker.share for worker in self.workers.values() if worker.side.name == name)

    def pieces(self, name: str) -> Sequence[Piece]:
        mine = sorted((each.part.number, each.piece) for each in self.workers.values() if each.side.name == name)
        return [piece for _number, piece in mine if piece is not None]

    def end(self, name: str | None = None) -> None:
        """End those of the side of this *name*, or all."""
        mine = {one: each for one, each in self.workers.items() if name is None or each.side.name == name}
        for each in mine.values():
            each.process.terminate()
        for connection, each in mine.items():
            each.process.join(GRACE_SECONDS)
            if each.process.exitcode is None:
                each.process.kill()
                each.process.join()
            each.process.close()
            connection.close()
            del self.workers[connection]


@contextmanager
def _crew(opener: Opener) -> Iterator[_Crew]:
    crew = _Crew(opener)
    try:
        yield crew
    finally:
        crew.end()


@contextmanager
def _deaf() -> Iterator[None]:
    """Have what is started meanwhile never hear Ctrl-C, which the terminal sends to all: who asked ends the others."""
    resource_tracker.ensure_running()  # started once, and it would end the deafness
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPT)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def work(pipe: Connection, side: Side, part: Part, opener: Opener) -> None:
    """Replay *part* of *side* and send what comes of it into *pipe*: the process's whole life."""
    Thread(target=_end_with_parent, daemon=True).start()
    calm_collector()
    try:
        said: Piece | Failed | None = replay_part(side, part, opener(), pipe.send)
    except RelightError as error:
        said = Failed(type(error), error.message, error.hint)
    except BrokenPipeError:
        return  # as below
    pipe.send(said)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # nobody listens any more, and nothing needs an end: what is kept is put in place whole

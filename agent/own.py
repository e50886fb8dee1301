"""What we ourselves do on this node that the kernel may complain about: so that nobody takes it for a fault.

Decides by our processes and by the time in which a probe of ours ran, for a few exact kinds each. Whatever a broken GPU
says because we looked at it stays a fault: a GSP that does not answer (Xid 119) or a lost GPU (79) is told with the
process that happened to ask, ours as often as not. It must not know how anything is collected.

Sources: docs.nvidia.com/deploy/xid-errors (13, 31, 43, 45: the named process did it, or ended); mlx5 answers a register
that its firmware lacks with "ACCESS_REG ... failed" in the kernel's log to whoever reads it (mlx5_core, cmd.c).
"""

import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from agent.parsers.sighting import Sighting
from agent.polls.reading import Instant, Memory, Poll, Reading
from policies.contract.vocabulary import Kind

log = logging.getLogger(__name__)

_OF_THE_PROCESS = frozenset({13, 31, 43, 45})
_SLACK = timedelta(seconds=1)  # a record is dated by its arrival
_REMEMBERED = 64


@dataclass(slots=True)
class _Work:
    """One thing that we do, or did."""

    kinds: frozenset[Kind]
    began: datetime
    ended: datetime | None = None
    pid: int = 0

    def covers(self, at: datetime) -> bool:
        return self.began - _SLACK <= at and (self.ended is None or at <= self.ended + _SLACK)


class OwnWork:
    """Safe for threads."""

    def __init__(self, clock: Callable[[], datetime], prober: Callable[[], int | None] = lambda: None) -> None:
        """Know this process and the one that *prober* names."""
        self._clock = clock
        self._prober = prober
        self._lock = threading.Lock()
        self._works: deque[_Work] = deque(maxlen=_REMEMBERED)

    @contextmanager
    def doing(self, *kinds: Kind) -> Iterator[Callable[[int], None]]:
        """Let what the kernel says of *kinds* in this time be ours; call what is yielded with a process that we began.

        Name the kinds that reading alone provokes, never a kind that tells of a broken part.
        """
        work = _Work(frozenset(kinds), self._clock())
        with self._lock:
            self._works.append(work)

        def began(pid: int) -> None:
            work.pid = pid

        try:
            yield began
        finally:
            work.ended = self._clock()

    def caused(self, sighting: Sighting, at: datetime) -> bool:
        """Tell whether what was said at *at* is of our own making."""
        pid = sighting.attributes.get("pid")
        ours = isinstance(pid, int) and (
            self._is_ours(pid, at) if _blames_process(sighting) else _waits_for_us(sighting, pid)
        )
        if not ours:
            with self._lock:
                ours = any(sighting.kind in work.kinds and work.covers(at) for work in self._works)
        if ours:
            log.warning("the kernel complains of our own doing", extra={"kind": sighting.kind, "pid": pid})
        return ours

    def _is_ours(self, pid: int, at: datetime) -> bool:
        if pid in {os.getpid(), self._prober()}:
            return True
        with self._lock:
            leaders = {work.pid for work in self._works if work.pid and work.covers(at)}
        return bool(leaders) and (pid in leaders or _session(pid) in leaders)


class Provoking:
    """A poll whose reading may make the kernel complain of *kinds*."""

    def __init__(self, poll: Poll, own: OwnWork, kinds: Iterable[Kind]) -> None:
        """Measure by *poll*, and let *own* know."""
        self._poll, self._own, self._kinds = poll, own, tuple(kinds)

    def measure(self, memory: Memory, now: Instant) -> Sequence[Reading]:
        """See `Poll.measure`."""
        with self._own.doing(*self._kinds):
            return self._poll.measure(memory, now)


def _blames_process(sighting: Sighting) -> bool:
    if sighting.kind is Kind.PROCESS_SEGFAULT:
        return True
    return sighting.kind is Kind.GPU_XID and sighting.attributes.get("xid") in _OF_THE_PROCESS


def _waits_for_us(sighting: Sighting, task: int) -> bool:
    """Tell whether what hangs in the kernel is a thread of a child of ours, the prober above all.

    It hangs since something else does, which the prober's reader tells with its name. A thread of the agent itself that
    hangs is told: nothing of it waits on purpose.
    """
    if sighting.kind is not Kind.HOST_HUNG_TASK:
        return False
    with suppress(OSError, ValueError):
        lines = Path(f"/proc/{task}/status").read_text(encoding="utf-8", errors="replace").splitlines()
        said = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        return int(said.get("PPid", 0)) == os.getpid() != int(said.get("Tgid", 0))
    return False


def _session(pid: int) -> int:
    """Return the session of *pid*: what a program of ours began is in the program's; 0 when it is gone."""
    with suppress(OSError):
        return os.getsid(pid)
    return 0

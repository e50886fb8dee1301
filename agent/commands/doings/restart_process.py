"""End a training process, so that whoever launched it starts it again: SIGTERM, and SIGKILL for what stays.

Only a process that holds a GPU or beats, and that is still the one that was meant: it began before the fault, and a
descriptor of it (pidfd) is what the signals go to, since numbers are given anew. It worked when the process is gone.
It must not know launchers.
"""

import os
import select
import signal
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from agent.commands.doing import Errand, Outcome, Resource
from agent.commands.holders import holders
from agent.proc import live_threads, read_stat
from policies.contract.commands.operations import RestartProcess

_GONE_SECONDS = 10.0  # after SIGKILL: what then still is there waits in the kernel
_SLACK = timedelta(seconds=1)  # a start is told in ticks since boot, and the clock was set since


@dataclass(frozen=True, slots=True)
class Training:
    """A process that trains here. ``started`` is seconds since boot."""

    pid: int
    name: str
    started: float


class RestartsProcess:
    """`restart_process`."""

    resource = Resource.GPUS

    def __init__(
        self,
        procfs: Path,
        beating: Callable[[], Iterable[Training]],
        now: Callable[[], datetime],
        ticks: Callable[[], float],
    ) -> None:
        """Know processes by *procfs* and by who is *beating*; *ticks* is seconds since boot, at *now*."""
        self._procfs = procfs
        self._beating = beating
        self._now, self._ticks = now, ticks

    def why_not(self, params: RestartProcess) -> str:
        """Refuse a process that is none of a training job's."""
        if not self._numbers_agree():
            return "the agent's container has process numbers of its own: let it share the node's (hostPID: true)"
        if params.pid is None or self._meant(params):
            return ""
        stat = read_stat(self._procfs, params.pid)
        if stat is None or not self._is_old_enough(stat.started, params):
            return ""  # gone, or another one has its number by now: that is what was asked for
        if params.name and not _same_name(stat.name, params.name):
            return f"process {params.pid} is {stat.name}, not {params.name}"
        return f"process {params.pid} ({stat.name}) neither holds a GPU nor beats: it is no training process"

    def _numbers_agree(self) -> bool:
        """Whether the node's /proc knows this process by its own number: a signal goes by our numbers, not by its."""
        return Path(os.path.realpath(self._procfs / "self")).name == str(os.getpid())

    def run(self, params: RestartProcess, errand: Errand) -> Outcome:
        """End them and wait until they are gone."""
        meant = self._meant(params)
        if not meant:
            return Outcome(ok=True, reason="it is gone already", facts={"ended": 0})
        targets = [target for one in meant if (target := _Target.of(one, self._procfs))]
        try:
            return _end(targets, params.grace_seconds, errand)
        finally:
            for target in targets:
                target.close()

    def look_back(self, params: RestartProcess, errand: Errand) -> Outcome:
        """It worked if the process is gone; a reboot ended every one."""
        before = params.model_copy(update={"started_before": params.started_before or errand.claim.at})
        left = [] if errand.rebooted else self._meant(before)
        if left:
            return Outcome(ok=False, reason=f"{_named(left)} is still there")
        return Outcome(ok=True, facts={"ended": 0})

    def _meant(self, params: RestartProcess) -> list[Training]:
        held = holders(self._procfs, [params.gpu] if params.gpu and params.pid is None else [])
        found = {one.pid: Training(one.pid, one.name, one.started) for one in held}
        if params.pid is not None:
            found = {one.pid: one for one in (*found.values(), *self._beating()) if one.pid == params.pid}
        return [one for one in found.values() if self._is_meant(one, params)]

    def _is_meant(self, one: Training, params: RestartProcess) -> bool:
        stat = read_stat(self._procfs, one.pid)
        if stat is None or stat.started != one.started:
            return False
        if not stat.is_alive and not live_threads(self._procfs, one.pid):
            return False  # a zombie holds nothing
        return self._is_old_enough(one.started, params) and (not params.name or _same_name(one.name, params.name))

    def _is_old_enough(self, started: float, params: RestartProcess) -> bool:
        if params.started_before is None:
            return True
        began = self._now() - timedelta(seconds=self._ticks() - started)
        return began < params.started_before + _SLACK


class _Target:
    """A process and its descriptor: it stays this process, whoever gets its number."""

    def __init__(self, process: Training, descriptor: int) -> None:
        self.process = process
        self._descriptor = descriptor

    @classmethod
    def of(cls, process: Training, procfs: Path) -> "_Target | None":
        """Return it, unless it ended since it was seen."""
        try:
            target = cls(process, os.pidfd_open(process.pid))
        except ProcessLookupError:
            return None
        stat = read_stat(procfs, process.pid)
        if stat is None or stat.started != process.started:
            target.close()
            return None
        return target

    def signal(self, number: signal.Signals) -> None:
        """Send it; one that has ended is fine."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._descriptor, number)

    def is_gone(self) -> bool:
        """Whether it has ended; a zombie has, and holds no GPU."""
        return bool(select.select([self._descriptor], [], [], 0)[0])

    def close(self) -> None:
        os.close(self._descriptor)


def _end(targets: Sequence[_Target], grace: float, errand: Errand) -> Outcome:
    for target in targets:
        target.signal(signal.SIGTERM)
    errand.until(lambda: all(target.is_gone() for target in targets), grace)
    stubborn = [target for target in targets if not target.is_gone()]
    for target in stubborn:
        target.signal(signal.SIGKILL)
    errand.until(lambda: all(target.is_gone() for target in stubborn), _GONE_SECONDS)
    left = [target.process for target in targets if not target.is_gone()]
    facts = {"ended": len(targets) - len(left), "killed": len(stubborn)}
    if left:
        return Outcome(
            ok=False, reason=f"{_named(left)} does not end, even killed: it waits in the kernel", facts=facts
        )
    return Outcome(ok=True, reason=_named([target.process for target in targets]), facts=facts)


def _named(processes: Sequence[Training]) -> str:
    return ", ".join(f"{one.name} ({one.pid})" for one in processes)


def _same_name(one: str, other: str) -> bool:
    """Both may be cut: comm has 15 characters."""
    return one.startswith(other[:15]) or other.startswith(one[:15])

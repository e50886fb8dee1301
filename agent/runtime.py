"""The agent at work: its sources, its publisher, its status, and the watch over all of them, on one node.

Decides the order of start and stop, what happens each second, and how new settings take effect. It must not know
faults or wire forms, nor where settings come from.
"""

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from agent.driver import LoadedDriver, version_file
from agent.events import hung_event
from agent.evidence.wiring import make_evidence
from agent.hung import HungWatch
from agent.identity import Metadata
from agent.job.table import ProcessTable
from agent.job.told import JobsTold
from agent.job.whereabouts import Whereabouts
from agent.job_file import JobFile
from agent.own import OwnWork
from agent.polls.source import since_boot
from agent.prober.client import Prober
from agent.prober.topics import TOPICS
from agent.publisher import Publisher
from agent.reload import Changes, compare, merged
from agent.rights import one_line
from agent.running import RunningSources
from agent.settings import Settings
from agent.sources import GROUPS
from agent.spool.spool import Spool
from agent.status.report import Loops, Reporter
from agent.status.serving import StatusServers
from agent.supervise import start
from agent.systemd import Systemd
from agent.vitals import Vital, Vitals
from agent.wiring import Wiring
from policies.contract.envelope import NodeIdentity
from policies.contract.errors import SettingsError
from policies.contract.times import format_time

log = logging.getLogger("agent")

STEP_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Around:
    """What the agent finds around it: who it is, and what it asks."""

    node: NodeIdentity
    region: str
    metadata: Metadata
    environ: Mapping[str, str]
    clock: Callable[[], datetime]
    version: str
    driver: LoadedDriver = field(default_factory=LoadedDriver)


class Runtime:
    """Used by one thread: `begin`, then `step` each second, then `end`."""

    def __init__(
        self, settings: Settings, around: Around, spool: Spool, publisher: Publisher, jobs: JobsTold | None = None
    ) -> None:
        """Make all parts; none works yet. *jobs* is what *publisher* says of jobs."""
        self._around, self._spool, self._publisher = around, spool, publisher
        self._silent, self._quiet = threading.Event(), threading.Event()
        self._vitals, self._prober = Vitals(since_boot), Prober(TOPICS)
        self._own = OwnWork(around.clock, lambda: self._prober.pid)
        self._evidence = make_evidence(
            lambda: self._wiring.settings,
            around.node,
            around.metadata,
            around.region,
            clock=around.clock,
            own=self._own,
            first=settings,
        )
        self._wiring = self._wire(settings, jobs or JobsTold(since_boot))
        self._sources = RunningSources(self._vitals)
        self._hung = HungWatch(self._vitals, self._tell_hung)
        self._systemd = Systemd(around.environ)
        self._loops = Loops(time.monotonic)
        self._stepped = time.monotonic()
        self._told: dict[str, Any] = {"loaded_at": format_time(around.clock())}
        self._serving = StatusServers(self._reporter())
        self._sending: threading.Thread | None = None

    @property
    def settings(self) -> Settings:
        """The settings that are in effect."""
        return self._wiring.settings

    def begin(self) -> None:
        """Let everything work."""
        if off := one_line(self.settings):
            log.warning(off)
        threading.Thread(target=self._spool.keep_durable, args=(self._silent,), name="disk", daemon=True).start()
        self._spool.listen(self._evidence.recent.hear)
        self._spool.listen(self._evidence.watch.hear)
        for group, sources in GROUPS.items():
            self._sources.start(group, sources(self._wiring))
        start("evidence", self._evidence.watch.run, self._quiet, self._vitals)
        if self._evidence.uploader:
            start("evidence_upload", self._evidence.uploader.run, self._quiet, self._vitals)
        self._sending = start("publisher", self._publisher.run, self._silent, self._vitals)
        self._loops.watch("publisher", lambda: self._publisher.alive_at)
        self._loops.watch("watch", lambda: self._stepped)
        self._serving.begin(self.settings.status_socket, self.settings.metrics_listen, self._quiet)
        self._systemd.ready()

    def step(self) -> None:
        """Do what is due each second; never raises."""
        try:
            self._hung.step()
            self._sources.step()
        except Exception:
            log.exception("the watch over the sources failed")
        self._stepped = time.monotonic()
        if not self._loops.stalled():
            self._systemd.alive(f"{self._spool.waiting} events wait")

    def reload(self, load: Callable[[], Settings]) -> None:
        """Take new settings from *load*; those that are not right leave the old ones, and it is said why."""
        try:
            wanted = load()
        except SettingsError as error:
            log.error("settings are not right: the old ones stay", extra={"why": error.message})  # noqa: TRY400
            self._told["refused"] = error.message
            return
        self._systemd.reloading()
        changes = compare(self.settings, wanted)
        now = merged(self.settings, wanted, changes)
        job, table = self._job(now)
        self._around.driver.believe(now.driver_version, version_file(now.procfs))
        self._wiring = replace(self._wiring, settings=now, job=job, table=table)
        left = [name for group in sorted(changes.groups) for name in self._begin_anew(group)]
        self._tell_reload(changes, left)
        self._systemd.ready()

    def end(self, seconds: float) -> int:
        """Stop reading, send what can still be sent within about twice *seconds*; return how many events still wait."""
        self._systemd.stopping()
        self._quiet.set()
        self._sources.stop(seconds)
        self._prober.close()
        self._serving.end()
        self._silent.set()
        self._spool.wake()
        if self._sending:
            self._sending.join(seconds)
            if self._sending.is_alive():
                return self._spool.waiting
        return self._publisher.drain(seconds)

    def _wire(self, settings: Settings, jobs: JobsTold) -> Wiring:
        job, table = self._job(settings)
        around = self._around
        return Wiring(
            settings,
            around.node,
            self._spool,
            around.clock,
            job,
            table,
            self._vitals,
            self._prober,
            evidence=self._evidence.collector,
            own=self._own,
            jobs=jobs,
            driver=around.driver,
        )

    @staticmethod
    def _job(settings: Settings) -> tuple[Whereabouts, ProcessTable]:
        table = ProcessTable(settings.beats, settings.procfs, since_boot, host_name=os.uname().nodename)
        return Whereabouts(JobFile(settings.job_file), table, settings.procfs), table

    def _reporter(self) -> Reporter:
        board = self._wiring.board
        board.tell("evidence", self._evidence.status)
        board.tell("settings", lambda: dict(self._told))
        return Reporter(
            self._around.version,
            self._around.node,
            self._vitals,
            self._spool,
            self._publisher.lanes,
            board,
            self._loops,
            time.monotonic,
            since_boot,
            time.monotonic(),
            self._around.driver.version,
        )

    def _begin_anew(self, group: str) -> list[str]:
        return self._sources.restart(group, GROUPS[group](self._wiring))

    def _tell_reload(self, changes: Changes, left: list[str]) -> None:
        told = {"live": list(changes.live), "needs_restart": list(changes.needs_restart), "did_not_end": left}
        log.info("settings are read again", extra=told)
        self._told = {"loaded_at": format_time(self._around.clock()), **{key: one for key, one in told.items() if one}}

    def _tell_hung(self, one: Vital) -> None:
        self._spool.append([hung_event(self._around.node, one.name, one.began or 0.0, self._around.clock())])

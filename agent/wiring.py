"""What every group of sources is given to make its sources of. It must not know any source."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from agent.driver import LoadedDriver
from agent.events import EventMaker
from agent.evidence.request import Evidence
from agent.job.table import ProcessTable
from agent.job.told import JobsTold
from agent.job.whereabouts import Whereabouts
from agent.own import OwnWork, Provoking
from agent.polls.reading import Poll
from agent.polls.source import Pace, PollSource, since_boot
from agent.prober.client import Prober
from agent.settings import Settings
from agent.spool.spool import Spool
from agent.status.board import Board
from agent.vitals import Vitals
from agent.xid_ledger import XidLedger
from policies.contract.envelope import NodeIdentity
from policies.contract.vocabulary import Kind, Source

Run = Callable[[threading.Event], None]


@dataclass(frozen=True, slots=True)
class Wiring:
    """One agent's parts. ``job`` finds the job that an event concerns, ``table`` is who trains here.

    ``evidence`` None: none is kept. ``jobs`` is said in envelopes. ``own`` knows what we do ourselves that the kernel
    may complain about; ``board`` is where a part says what the status endpoint shows of it.
    """

    settings: Settings
    node: NodeIdentity
    spool: Spool
    clock: Callable[[], datetime]
    job: Whereabouts
    table: ProcessTable
    vitals: Vitals
    prober: Prober
    evidence: Evidence | None = None
    own: OwnWork | None = None
    board: Board = field(default_factory=Board)
    jobs: JobsTold = field(default_factory=lambda: JobsTold(since_boot))
    xids: XidLedger = field(default_factory=XidLedger)
    driver: LoadedDriver = field(default_factory=LoadedDriver)

    def maker(self, source: Source) -> EventMaker:
        """Return what makes the events of *source*."""
        return EventMaker(self.node, source, self.job, self.job.pod)

    def poll(
        self,
        name: str,
        poll: Poll,
        source: Source,
        *,
        every: float,
        deadline: float = 10.0,
        provokes: Iterable[Kind] = (),
    ) -> Run:
        """Return the source *name* that measures *poll* every so many seconds.

        *provokes*: what the kernel may complain of because it is read (agent/own.py).
        """
        if provokes and self.own:
            poll = Provoking(poll, self.own, provokes)
        pace = Pace(every, deadline, self.settings.boot_grace_seconds)
        return PollSource(
            name,
            poll,
            self.spool,
            self.maker(source),
            pace=pace,
            vitals=self.vitals,
            clock=self.clock,
            ticks=since_boot,
        ).run

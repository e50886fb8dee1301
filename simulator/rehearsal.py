"""handle-incident on the virtual clock: asks, has each rung go as it was recorded or as it usually does, asks again.

Decides when a rung ends and how. A rung whose end the archive tells ends then and so; one that an archived incident
never ended goes on until its deadline; all others take what they usually take, as fast as time goes in the archive, and
succeed. It must not decide rungs, nor which of them the archive tells.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from policies.contract.decisions import Answer, AskMessage, RungReport
from policies.contract.rungs import Rung, RungStatus
from policies.contract.times import add_seconds
from policies.coordination.incident import Incident, execution_name
from policies.coordination.snapshot import ExecutionState
from simulator.agenda import Agenda
from simulator.durations import typical_seconds
from simulator.recorded import UNENDED, Recorded, Rehearsed

_OVER = frozenset({"merged", "parked", "closed", "wait_approval"})
BEFORE_ALL = datetime(1970, 1, 1, tzinfo=UTC)
Finder = Callable[[str, str], Incident | None]  # cluster and id -> the incident as it stands


class Rehearsal:
    """The port `Executions`. ``started`` and ``ended`` are names of executions; ``assumed`` counts rungs nobody saw.

    ``followers`` are incidents that bear another name than the recorded one which they are, by that one's.
    """

    def __init__(self, agenda: Agenda, recorded: Recorded, find: Finder, *, time_scale: float = 1.0) -> None:
        """Put asks on *agenda*; *time_scale* is how many real seconds a second of a wait lasts."""
        self._agenda = agenda
        self._recorded = recorded
        self._find = find
        self._time_scale = time_scale
        self._asked: dict[str, AskMessage] = {}  # by token: what waits for an answer
        self.now = BEFORE_ALL
        self.started: set[str] = set()
        self.ended: set[str] = set()
        self.assumed = 0
        self.followers: dict[str, str] = {}

    def start(self, cluster: str, incident: str, attempt: int) -> None:
        """See the port."""
        name = execution_name(incident, attempt)
        if name not in self.started:
            self.started.add(name)
            found = self._find(cluster, incident)
            if found is not None and (recorded := self._recorded.name_of(found)) != incident:
                self.followers.setdefault(recorded, incident)
            self._ask(self.now, AskMessage(cluster=cluster, incident=incident, attempt=attempt, step=0, task_token=""))

    def describe(self, incident: str, attempt: int) -> ExecutionState:
        """See the port."""
        name = execution_name(incident, attempt)
        if name not in self.started:
            return ExecutionState.ABSENT
        return ExecutionState.ENDED if name in self.ended else ExecutionState.RUNNING

    def waits(self, ask: AskMessage) -> None:
        """Have *ask*, which is being made, wait for its answer."""
        self._asked[ask.task_token] = ask

    def answer(self, token: str, answer: Answer) -> bool:
        """See the port."""
        ask = self._asked.pop(token, None)
        if ask is None:
            return False
        if answer.verdict == "wait":
            seconds = answer.wait_seconds * self._time_scale
            self._ask(add_seconds(self.now, seconds), _next(ask, answer, None))
        elif answer.verdict == "act" and answer.rung is not None:
            self._carry_out(ask, answer, answer.rung)
        else:
            self._end(execution_name(ask.incident, ask.attempt), over=answer.verdict in _OVER)
        return True

    def _end(self, name: str, *, over: bool) -> None:
        """Note that *name* ended; of an incident that is *over* nobody asks any more."""
        if over:
            self.started.discard(name)
        else:
            self.ended.add(name)

    def _carry_out(self, ask: AskMessage, answer: Answer, rung: Rung) -> None:
        incident = self._find(ask.cluster, ask.incident)
        past = self._recorded.went(incident, rung) if incident else None
        if past == UNENDED:
            if ask.report is None or ask.report.rung is not rung:  # from then on the sweep finds it overdue
                self._ask(self.now, _next(ask, answer, _report(rung, RungStatus.WAITING, self.now)))
        elif isinstance(past, Rehearsed):
            self._ask(max(past.at, self.now), _next(ask, answer, past.report))
        else:
            self.assumed += 1
            at = add_seconds(self.now, typical_seconds(rung) * self._time_scale)
            self._ask(at, _next(ask, answer, _report(rung, RungStatus.DONE, at)))

    def _ask(self, at: datetime, ask: AskMessage) -> None:
        token = f"{ask.incident}-{ask.attempt}-{ask.step}"
        self._agenda.add(at, ask.model_copy(update={"task_token": token}))


def _report(rung: Rung, status: RungStatus, at: datetime) -> RungReport:
    return RungReport(rung=rung, status=status, at=at)


def _next(ask: AskMessage, answer: Answer, report: RungReport | None) -> AskMessage:
    return ask.model_copy(update={"step": answer.step, "report": report, "task_token": ""})

"""Coordinate, handle-incident and its executors around one virtual clock, so that a story takes milliseconds.

Queue, state machine and Lambda behave as AWS's do where it matters: deliveries repeat, a batch that dies comes back
after its visibility, tokens time out, a task whose function died is retried. ``crashes`` says at which call of a port
the process that makes it dies, before or after the call took effect; ``delays`` hold messages up, one after the other,
so that later ones overtake them.
"""

import heapq
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import count, cycle
from pathlib import Path

from functions.acts.act import Act
from functions.acts.frame import carry_out
from functions.coordinate.coordinate import Coordinator
from functions.ports.policies import Head
from functions.settings import ClusterSettings
from functions.twins.acts import MemoryActStore, MemoryLeaseReader
from functions.twins.dead_letters import MemoryDeadLetters
from functions.twins.executions import MemoryExecutions
from functions.twins.facts import MemoryFacts
from functions.twins.policies import MemoryPolicies
from functions.twins.sizes import MemorySizes
from functions.twins.switches import MemorySwitches
from functions.twins.triage import MemoryTelemetry
from policies.contract.decisions import Answer, AnyMessage, RungRequest, SweepMessage
from policies.contract.rungs import Rung
from policies.contract.vocabulary import PolicyMode
from policies.coordination.incident import Incident, execution_name
from policies.coordination.memory import MemoryStore
from policies.coordination.rules import Rules
from tests.tools.asl import ExecutionFailed, Invoke, Nap, Player, Send, Steps, TaskError
from tests.tools.crashes import Crash, Crashes, Guarded, Inline
from tests.tools.incidents import CLUSTER, POLICY, RULES, START
from tests.tools.records import sqs_record

ASL = json.loads((Path(__file__).parents[2] / "infra" / "asl" / "handle-incident.asl.json").read_text())
VISIBILITY_SECONDS = 30
RECEIVES = 3  # fewer than the queue's 20: here messages do die of crashes, and all must be well nevertheless


def policies_in_force() -> MemoryPolicies:
    """Return a table in which the policy of `plan` is active."""
    policies = MemoryPolicies()
    policies.in_force[POLICY] = Head(POLICY, 3, "hash", PolicyMode.ACTIVE, "{}")
    return policies


class WorldExecutions(MemoryExecutions):
    """Starts players, resumes them with answers."""

    def __init__(self, world: "World") -> None:
        super().__init__()
        self._world = world

    def start(self, cluster: str, incident: str, attempt: int) -> None:
        fresh = execution_name(incident, attempt) not in self.started
        super().start(cluster, incident, attempt)
        if fresh:
            self._world.begin(cluster, incident, attempt)

    def answer(self, token: str, answer: Answer) -> bool:
        waited = super().answer(token, answer)
        if waited:
            self._world.answered(token, json.loads(answer.to_json()))
        return waited


@dataclass
class Message:
    id: str
    body: str
    receives: int = 0


class World:
    """One cluster. ``acts`` is rung -> act for all executors."""

    def __init__(
        self,
        acts: Callable[["World"], dict[Rung, Act]],
        *,
        crashes: Crashes | None = None,
        rules: Rules = RULES,
        delays: Sequence[float] = (),
    ) -> None:
        self.now = START
        self.crashes = crashes or Crashes()
        self.store = MemoryStore()
        self.policies = policies_in_force()
        self.switches = MemorySwitches(self.policies)
        self.executions = WorldExecutions(self)
        self.refused = MemoryDeadLetters()
        self.facts = MemoryFacts()
        self.given_up: list[str] = []
        self.failed_executions: list[str] = []
        self.players: dict[str, Player] = {}
        self.invocations: Counter[tuple[str, Rung]] = Counter()
        self._order = count()
        self._delays = cycle(delays or (0.0,))
        self._agenda: list[tuple[datetime, int, Callable[[], None]]] = []
        self._queue: list[Message] = []
        self._waiting: dict[str, tuple[str, Steps]] = {}
        self._incident_acts = MemoryActStore(self.store, CLUSTER)
        self._leases = MemoryLeaseReader(self.store)
        self.acts = acts(self)
        self.coordinator = Coordinator(
            store=Guarded(self.store, self.crashes, ("write", "write_lines")),
            executions=Guarded(self.executions, self.crashes, ("start", "answer")),
            sizes=MemorySizes(),
            switches=Guarded(self.switches, self.crashes, ("put_in_shadow",)),
            facts=self.facts,
            dead_letters=Guarded(self.refused, self.crashes, ("send",)),
            telemetry=MemoryTelemetry(),
            rules=rules,
            clock=lambda: self.now,
            pool=Inline(),
        )

    @property
    def dead_letters(self) -> list[str]:
        """The bodies that came to rest: refused, or received too often."""
        return [*(letter.body for letter in self.refused.letters), *self.given_up]

    def set_mode(self, mode: PolicyMode, policy: str = POLICY) -> None:
        """Do what guard and operator do to a policy."""
        self.policies.in_force[policy] = replace(self.policies.in_force[policy], mode=mode)

    def after(self, seconds: float, do: Callable[[], None]) -> None:
        heapq.heappush(self._agenda, (self.now + timedelta(seconds=seconds), next(self._order), do))

    def send(self, message: AnyMessage, *, after: float = 0.0) -> None:
        self.after(after, lambda: self._enqueue(message.to_json()))

    def sweep_every(self, seconds: float, *, until: float) -> None:
        moments = (START + timedelta(seconds=seconds * n) for n in range(1, int(until / seconds) + 1))
        for moment in moments:
            self.send(SweepMessage(cluster=CLUSTER, at=moment), after=(moment - self.now).total_seconds())

    def run(self, seconds: float) -> None:
        """Let time pass until *seconds* after the start, or until nothing is left to happen."""
        end = START + timedelta(seconds=seconds)
        while self._agenda and self._agenda[0][0] <= end:
            self.now, _, do = heapq.heappop(self._agenda)
            do()
        self.now = end

    def incident(self, node: str) -> Incident:
        """Return the one incident of *node* that acted, or the only one."""
        mine = [each for each in self.store.all_incidents() if each.node.instance_id == node]
        acted = [each for each in mine if each.fence]
        return (acted or mine)[0]

    # The queue: at most ten a batch, what fails comes back after its visibility.

    def _enqueue(self, body: str) -> None:
        message = Message(str(next(self._order)), body)
        self.after(next(self._delays), lambda: self._put(message))

    def _put(self, message: Message) -> None:
        self._queue.append(message)
        self.after(0.01, self._deliver)

    def _deliver(self) -> None:
        batch, self._queue = self._queue[:10], self._queue[10:]
        if not batch:
            return
        for message in batch:
            message.receives += 1
        try:
            answer = self.coordinator.take([sqs_record(it.id, it.body, received=it.receives) for it in batch])
            failed = {each["itemIdentifier"] for each in answer["batchItemFailures"]}
        except Crash:
            failed = {message.id for message in batch}
        for message in batch:
            if message.id in failed:
                self._bring_back(message)

    def _bring_back(self, message: Message) -> None:
        if message.receives >= RECEIVES:
            self.given_up.append(message.body)
            return
        self.after(VISIBILITY_SECONDS, lambda: self._put(message))

    # The state machine.

    def begin(self, cluster: str, incident: str, attempt: int) -> None:
        name = execution_name(incident, attempt)
        player = Player(ASL, name, [])
        self.players[name] = player
        steps = player.play({"cluster": cluster, "incident": incident, "attempt": attempt})
        self.after(0.02, lambda: self._step(name, steps, None))

    def kill(self, incident: str, attempt: int) -> None:
        """End an execution from outside, as an operator or an outage would."""
        name = execution_name(incident, attempt)
        self.players.pop(name, None)
        self.executions.end(incident, attempt)

    def answered(self, token: str, answer: object) -> None:
        name, steps = self._waiting.pop(token)
        self.after(0.01, lambda: self._step(name, steps, answer))

    def _step(self, name: str, steps: Steps, value: object, error: TaskError | None = None) -> None:
        if name not in self.players:
            return
        try:
            wanted = steps.throw(error) if error else steps.send(value)
        except StopIteration:
            self._end(name)
        except ExecutionFailed:
            self.failed_executions.append(name)
            self._end(name)
        else:
            self._obey(name, steps, wanted)

    def _end(self, name: str) -> None:
        _, incident, attempt = self.executions.started[name]
        self.executions.end(incident, attempt)

    def _obey(self, name: str, steps: Steps, wanted: Nap | Invoke | Send) -> None:
        if isinstance(wanted, Nap):
            self.after(wanted.seconds, lambda: self._step(name, steps, None))
        elif isinstance(wanted, Invoke):
            self.after(0.05, lambda: self._invoke(name, steps, wanted))
        else:
            self._waiting[wanted.token] = (name, steps)
            self.executions.wait_for(wanted.token)
            self.after(wanted.timeout_seconds, lambda: self._time_out(wanted.token))
            self._enqueue(json.dumps(wanted.body))

    def _time_out(self, token: str) -> None:
        if token in self._waiting:
            self.executions.give_up(token)
            name, steps = self._waiting.pop(token)
            self._step(name, steps, None, TaskError("States.Timeout"))

    def _invoke(self, name: str, steps: Steps, wanted: Invoke) -> None:
        request = RungRequest.model_validate(wanted.payload)
        self.invocations[request.incident, request.rung] += 1
        try:
            report = carry_out(
                request,
                acts=self.acts,
                incidents=Guarded(self._incident_acts, self.crashes, ("intend", "report")),
                leases=self._leases,
                clusters={CLUSTER: ClusterSettings(name=CLUSTER, orchestrator="eks")},
                clock=lambda: self.now,
            )
        except Crash:
            self.after(1, lambda: self._step(name, steps, None, TaskError("Lambda.Unknown")))
        except Exception as error:  # noqa: BLE001 - Lambda tells the state machine the error's class
            failed = TaskError(type(error).__name__, str(error))
            self.after(0.1, lambda: self._step(name, steps, None, failed))
        else:
            self._step(name, steps, json.loads(report.to_json()))

"""One job on sixteen nodes with every shipped policy armed: what its agents say goes through triage and coordinate.

Triage's judgement is the real one, with a state a node; coordinate, the state machine and the clock are `World`'s; acts
touch a `Site`. Ranks that are told to end by a suspension say so, as the agent has it, a moment later.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, partial

from agent.parsers.sighting import Sighting
from agent.parsers.training import parse_training_line
from functions.acts.act import Act, ActContext
from functions.ports.policies import Head
from policies.contract.decisions import FindingsMessage, RungReport
from policies.contract.envelope import Envelope, NodeIdentity, ParsedEnvelope
from policies.contract.events import Component, FaultEvent, JobRef, Scalar
from policies.contract.identifiers import stable_id
from policies.contract.rungs import Rung
from policies.contract.vocabulary import ComponentType, Kind, Orchestrator, PolicyMode, Severity, Source
from policies.coordination.incident import Incident
from policies.coordination.snapshot import Keys
from policies.evaluator import Delivery, evaluate
from policies.facts.snapshot import Facts, ReadDocument, ReadFacts
from policies.rulebook import AcceptedPolicy, Rulebook, compile_policies
from tests.tools.fleet_acts import Does, Site, SiteActs, acts_on, unguarded
from tests.tools.incidents import CLUSTER, RULES, START
from tests.tools.shipped_stories import Told, policies_by_name
from tests.tools.world import World

NODES = tuple(f"i-{number:02d}" for number in range(16))
RUN = "train/llm"
LAG = 0.3  # from the fault to the stream


@cache
def armed() -> Rulebook:
    """Return the shipped rulebook with every policy active, made once."""
    shipped = policies_by_name().values()
    return compile_policies(
        AcceptedPolicy(one.model_copy(update={"mode": PolicyMode.ACTIVE}), 1, f"hash-{one.name}") for one in shipped
    )


@dataclass
class Fleet:
    """``step`` is how far the run is, ``failing`` rungs whose act fails, ``dead`` nodes whose agents are silent."""

    site: Site = field(default_factory=Site)
    step: int = 1200
    failing: dict[Rung, str] = field(default_factory=dict)
    dead: set[str] = field(default_factory=set)
    unanswered: set[str] = field(default_factory=set)
    _states: dict[str, str] = field(default_factory=dict)
    _told: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.world = World(self._acts, rules=RULES)
        for name in policies_by_name():
            self.world.policies.in_force[name] = Head(name, 1, f"hash-{name}", PolicyMode.ACTIVE, "{}")

    # What agents say.

    def say(self, node: str, told: Iterable[Told], at: float = 0.0, *, source: Source = Source.KERNEL_LOG) -> None:
        """Have the agent of *node* tell this, each at its own moment from *at* seconds after the start on."""
        for one in told:
            self._at(at + one.after, partial(self._judge, node, one, source))

    def say_everywhere(self, make: Callable[[int], Iterable[Told]], at: float, nodes: Sequence[str] = NODES) -> None:
        """Have the agents of all *nodes* tell what *make* makes for each number."""
        for number, node in enumerate(nodes):
            self.say(node, make(number), at)

    def beat(self, until: float, every: float = 30.0) -> None:
        """Have all agents send heartbeats."""
        for turn in range(int(until / every) + 1):
            for node in NODES:
                self._at(turn * every, partial(self._judge, node, None, Source.HEARTBEAT))

    def run(self, seconds: float) -> None:
        """Let time pass, with the minute's sweep."""
        self.world.sweep_every(60, until=seconds)
        self.world.run(seconds)

    def _at(self, seconds: float, do: Callable[[], None]) -> None:
        ahead = (START + timedelta(seconds=seconds) - self.world.now).total_seconds()
        self.world.after(max(ahead, 0.0), do)

    def _judge(self, node: str, told: Told | None, source: Source) -> None:
        now = self.world.now
        seq = self._told.get(node, 0)
        events = (self._event(node, told, seq, source),) if told else ()
        self._told[node] = seq + len(events)
        envelope = Envelope(node=identity(node), spool_id=f"spool-{node}", first_seq=seq, sent_at=now, events=events)
        arrived = now + timedelta(seconds=LAG)
        judged = evaluate(
            [Delivery(ParsedEnvelope(envelope), arrived)],
            state=self._states.get(node, ""),
            rulebook=armed(),
            now=arrived,
            snapshot=self._facts(node),
        )
        self._states[node] = judged.state
        self.unanswered |= {f"{one.policy}, {one.field}: {one.path}" for one in judged.refused}
        if judged.findings or judged.contributions or judged.cancellations:
            message = FindingsMessage(
                cluster=CLUSTER,
                findings=judged.findings,
                contributions=judged.contributions,
                cancellations=judged.cancellations,
            )
            self.world.send(message, after=LAG)

    def _facts(self, node: str) -> Facts:
        """Return what triage would read: coordinate's own past; of people, capacity and the job's saves nothing."""
        now = self.world.now
        past = self.world.store.read(CLUSTER, Keys(histories=frozenset({node}), recents=frozenset({""})))
        known = {("history", node): past.histories.get(node), ("recent", ""): past.recents.get("")}
        nothing = {("maintenance", node): None, ("capacity", ""): None, ("job", RUN): None}
        return ReadFacts({place: ReadDocument(one, now) for place, one in {**known, **nothing}.items()}, now)

    def _event(self, node: str, told: Told, seq: int, source: Source) -> FaultEvent:
        one, now = told.sighting, self.world.now
        rank = one.attributes.get("rank", NODES.index(node) * 8)
        job = JobRef(
            id=RUN,
            orchestrator=Orchestrator.EKS,
            rank=int(rank) if isinstance(rank, int) else None,
            step=self.step,
            checkpoint="s3://ckpt/llm",
        )
        return FaultEvent(
            id=stable_id("armed", node, seq),
            seq=seq,
            kind=one.kind,
            severity=one.severity,
            persistence=one.persistence,
            source=source,
            observed_at=now,
            first_observed_at=now,
            component=one.component,
            job=job,
            attributes=dict(one.attributes),
            message=told.message,
        )

    # What is done.

    def _acts(self, world: World) -> dict[Rung, Act]:
        site = SiteActs(self.site, unguarded)
        acts = acts_on(self.site)
        words = {Rung.FENCE_NODE: "fence", Rung.RESTART_PROCESS: "restart", Rung.RESTART_SERVICE: "restart_service"}
        for rung, what in {**words, Rung.RESET_GPU: "reset", Rung.RELEASE_NODE: "release"}.items():
            acts[rung] = Does(self._once(what), takes=5)
        acts[Rung.SUSPEND_JOB] = Does(lambda context: self._suspend(site, context), takes=6)
        acts[Rung.VERIFY_NODE] = Does(lambda context: self._verify(site, context), takes=10)
        return {rung: self._unless_failing(rung, act) for rung, act in acts.items()}

    def _unless_failing(self, rung: Rung, act: Act) -> Act:
        def advance(context: ActContext) -> RungReport:
            return context.failed(self.failing[rung]) if rung in self.failing else act.advance(context)

        return Does(advance)

    def _once(self, what: str) -> Callable[[ActContext], RungReport]:
        def do(context: ActContext) -> RungReport:
            if (what, context.incident) not in {(each, who) for each, who, _ in self.site.history}:
                self.site.effect(context, what, lambda: None)
            return context.done(**({"reset_gpus": ["0000:4b:00"]} if what == "reset" else {}))

        return do

    def _suspend(self, site: SiteActs, context: ActContext) -> RungReport:
        ran = not self.site.stopped.get(RUN)
        report = site.suspend(context)
        if ran:  # the launchers end their ranks, and every agent tells that somebody wanted it
            now = (self.world.now - START).total_seconds()
            self.say_everywhere(lambda number: ended(8 * number, signal="SIGTERM", symptom=True), now + 2, self.alive)
        return report

    def _verify(self, site: SiteActs, context: ActContext) -> RungReport:
        return site.verify(context) if "new_instance" in context.facts else context.done()

    # What became of it.

    @property
    def alive(self) -> list[str]:
        """The nodes whose agents still speak."""
        return [node for node in NODES if node not in self.dead]

    @property
    def opened(self) -> list[Incident]:
        """The incidents that acted or would have, oldest first; what was only recorded is none."""
        return [each for each in self.world.store.all_incidents() if each.fence]

    @property
    def done(self) -> list[tuple[str, str]]:
        """What was done, and to whom, in order; proofs and evidence are left out."""
        by_id = {each.id: each for each in self.world.store.all_incidents()}
        shown = [(what, by_id[who]) for what, who, _ in self.site.history if what != "verify"]
        return [(what, RUN if what in {"suspend", "resume"} else each.node.instance_id) for what, each in shown]

    @property
    def pages(self) -> list[str]:
        """The policies whose incidents woke somebody, with what they said last."""
        told = ((each, line) for each in self.world.store.all_incidents() for line in each.timeline)
        return [each.policy.name for each, line in told if line.alert == "page"]

    def recorded(self) -> set[str]:
        """The policies whose decisions were only recorded."""
        return {each.policy.name for each in self.world.store.all_incidents() if not each.fence}

    def by(self, policy: str) -> Incident:
        """Return the one incident that *policy* leads and that acted."""
        (only,) = [each for each in self.opened if each.policy.name == policy]
        return only


def identity(node: str) -> NodeIdentity:
    """Return the node; eight share a rack."""
    rack = f"rack-{NODES.index(node) // 8}"
    return NodeIdentity(
        cluster=CLUSTER,
        name=f"node-{node}",
        instance_id=node,
        instance_type="p5.48xlarge",
        network_path=("spine", "leaf", rack),
        boot_id=f"boot-{node}",
    )


def ended(rank: int, after: float = 0.0, *, severity: Severity | None = None, **attributes: Scalar) -> list[Told]:
    """Return what an agent tells of a rank's end: the first of its run on its node, unless it is a symptom."""
    symptom = "symptom" in attributes or ("signal" in attributes and attributes["signal"] == "SIGTERM")
    grave = severity or (Severity.WARNING if symptom else Severity.ERROR)
    part = Component(type=ComponentType.PROCESS, index=4000 + rank)
    told = Sighting(Kind.PROCESS_EXITED, grave, part, {"pid": 4000 + rank, "rank": rank, **attributes})
    return [Told(told, after, f"rank {rank} (python) left")]


def stalled(rank: int, after: float = 0.0) -> list[Told]:
    """Return what an agent tells of a rank that beats no more."""
    part = Component(type=ComponentType.PROCESS, index=4000 + rank)
    attributes: dict[str, Scalar] = {"pid": 4000 + rank, "rank": rank, "state": "R", "phase": "train"}
    return [Told(Sighting(Kind.TRAINING_STALLED, Severity.ERROR, part, attributes), after, f"rank {rank} stands still")]


def well_again(rank: int, after: float = 0.0) -> list[Told]:
    """Return what an agent tells of a rank that beats again."""
    part = Component(type=ComponentType.PROCESS, index=4000 + rank)
    over: dict[str, Scalar] = {"of": Kind.TRAINING_STALLED.value}
    return [Told(Sighting(Kind.CONDITION_CLEARED, Severity.INFO, part, over), after)]


def hit_by(node: str) -> list[str]:
    """Return the nodes whose ranks lose *node*."""
    return [each for each in NODES if each != node]


def following(number: int) -> list[Told]:
    """Return what a node says whose ranks lost a peer: its first rank dies of that."""
    lost = (
        "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1970, "
        "remote process exited or there was a network error, NCCL version 2.20.5"
    )
    seen = [Told(one, 0.0, lost) for one in parse_training_line(lost)]
    return [*seen, *ended(8 * number, 0.5, exit_code=1)]

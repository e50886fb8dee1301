"""Incidents that act and what becomes known of their hardware later, told to coordinate's decisions hour by hour."""

from policies.contract.decisions import PolicyPlan
from policies.contract.events import JobRef
from policies.contract.restraints import VerdictMessage, VerdictWord
from policies.contract.rungs import Rung, RungStatus
from policies.contract.vocabulary import Action, Kind
from policies.coordination.incident import Incident
from policies.coordination.snapshot import Decision, Keys
from policies.precision.misses import Miss, misses_of
from policies.precision.record import Record
from policies.precision.verdicts import Precision, precision_of, verdict_of
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, ask, at, finding, findings, plan, report

HOUR, DAY = 3600.0, 86_400.0
REPLACING = plan(Action.ISOLATE, Action.REPLACE_NODE, settle=0, deadline=3600, name="replacing")
RESETTING = plan(Action.RESET_GPU, settle=0, deadline=3600, name="resetting")
ISOLATING = plan(Action.ISOLATE, Action.PAGE_OPERATOR, settle=0, deadline=3600, name="isolating")
TELLING = plan(Action.RECORD, settle=0, name="telling")


class Judged(DecisionTable):
    """Every moment is in seconds from the start; an act takes five minutes."""

    def found(
        self, node: str, seconds: float, policy: PolicyPlan, *, kind: Kind = Kind.GPU_XID, job: JobRef | None = None
    ) -> Incident:
        """Have *policy* find something on *node*; return the node's newest incident."""
        name = f"{policy.name}-{node}-{seconds:g}"
        self.take(seconds, findings(finding(node, name=name, seen=at(seconds), policy=policy, job=job, kind=kind)))
        return self.newest(node)

    def acted(
        self, node: str, seconds: float, policy: PolicyPlan, *, successor: str = "", verified: bool = True
    ) -> Incident:
        """Have *policy* act on *node* to the end, or until its check fails."""
        incident = self.found(node, seconds, policy)
        self.take(seconds, ask(incident.id))
        step = 1
        while (current := self.newest(node).current) and self.newest(node).status.is_running:
            when, new = at(seconds + 60 * step), {}
            failed = current.rung is Rung.VERIFY_NODE and not verified
            if current.rung is Rung.REPLACE_NODE:
                new = {"new_instance": successor or f"{node}'"}
            done = report(current.rung, RungStatus.FAILED if failed else RungStatus.DONE, when=when, **new)
            self.take(seconds + 60 * step, ask(incident.id, step, report=done))
            step += 1
        return self.newest(node)

    def say(self, incident: Incident, word: VerdictWord, seconds: float, policy: str = "") -> Decision:
        return self.take(seconds, verdict(incident, word, seconds, policy))

    def newest(self, node: str) -> Incident:
        return [each for each in self.incidents if each.node.instance_id == node][-1]

    def record(self, policy: PolicyPlan) -> Record | None:
        return self.store.read(CLUSTER, Keys(records=frozenset({policy.name}))).records[policy.name]

    def precision(self, policy: PolicyPlan, seconds: float) -> Precision:
        return precision_of(self.record(policy), at(seconds))

    def known(self, policy: PolicyPlan, seconds: float) -> list[tuple[str, str]]:
        """Return node and what is known of it (`faulty by aws`), in the order of the acts."""
        record = self.record(policy)
        found = []
        for act in record.acts if record else ():
            ground = verdict_of(act, at(seconds))
            word = f"{'faulty' if ground.faulty else 'healthy'} by {ground.grade}" if ground else "unknown"
            found.append((act.node, word))
        return found

    def misses(self, seconds: float) -> tuple[Miss, ...]:
        return misses_of(self.store.read(CLUSTER, Keys(misses=frozenset({""}))).misses[""], at(seconds))

    @property
    def pages(self) -> list[tuple[str, str]]:
        """Node and text of each page."""
        return [
            (each.node.instance_id, entry.detail)
            for each in self.incidents
            for entry in each.timeline
            if entry.alert == "page"
        ]


def verdict(incident: Incident, word: VerdictWord, seconds: float, policy: str = "") -> VerdictMessage:
    return VerdictMessage(
        cluster=CLUSTER, incident=incident.id, verdict=word, policy=policy, by="ann", reason="looked", at=at(seconds)
    )

"""What takes the reason of a policy away: an event that its `cancel_when` names, or that the part is well again.

Decides which policies an event is such news for, and tells coordinate of it if the policy has anything counted of the
node. It is kept as long as older events may still come, so that the order of arrival changes nothing. It must not know
incidents.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from policies.contract.decisions import Finding, generation_of
from policies.contract.envelope import NodeIdentity
from policies.contract.events import FaultEvent
from policies.contract.parts import gpu_names
from policies.contract.restraints import Cancellation
from policies.contract.vocabulary import ComponentType, Kind
from policies.expressions.expression import Unanswered
from policies.expressions.members import NodeFacts
from policies.moments import from_ms
from policies.node_state import NodeState
from policies.rulebook import Rule, Rulebook

LONGEST_COMPONENT = 600  # a job's id has 512; 32 of what is longer would fill the state, and no part is called so
Holds = Callable[[Rule, str, bool | Unanswered], bool]


@dataclass
class Cancelling:
    """Works on what *state* keeps of it; ``changed`` when there is something to write."""

    state: NodeState
    rulebook: Rulebook
    changed: bool = False
    _node: NodeIdentity | None = None
    _touched: dict[str, str] = field(default_factory=dict)  # key -> policy
    _renamed: set[str] = field(default_factory=set)  # names of GPUs of which another is known since

    def look(self, event: FaultEvent, over: Collection[Kind], node: NodeFacts, moment: int, holds: Holds) -> None:
        """Note for which policies *event*, which says these kinds to be *over*, takes the reason away.

        It happened at *moment* (ms, corrected).
        """
        for rule, rest in self.rulebook.cancelled_by(event.kind):
            if rest is None or holds(rule, "cancel_when", rest.ask(event, node)):
                self._note(rule, "", event, moment, node.identity)
        component = event.component.key if event.component and over else ""
        for kind in over if len(component) <= LONGEST_COMPONENT else ():
            for rule in self.rulebook.healed_by(kind):
                self._note(rule, component, event, moment, node.identity)

    def rename(self, uuid: str, node: NodeIdentity) -> None:
        """Tell what is known of the GPU *uuid* of *node* again, since by now its other name is known."""
        self._renamed.update((uuid, *self.state.names_of(f"{ComponentType.GPU}:{uuid}")))
        self._node = node

    def _note(self, rule: Rule, component: str, event: FaultEvent, moment: int, node: NodeIdentity) -> None:
        key, told = f"{rule.name}|{component}", [moment, event.id, event.kind.value]
        self._node = node
        self._touched[key] = rule.name
        known = self.state.cancelled.get(key)
        if known is None or told > known:
            self.state.cancelled[key] = told
            self.changed = True

    def told(self, findings: Collection[Finding]) -> tuple[Cancellation, ...]:
        """Return what coordinate is told beside *findings*: what is new, and what their policies knew before."""
        if not self.state.cancelled:
            return ()
        found = {finding.policy.name: finding.node for finding in findings}
        if self._renamed:
            again = (key for key in self.state.cancelled if gpu_names(key.partition("|")[2]) & self._renamed)
            self._touched |= {key: key.partition("|")[0] for key in again}
        keys = {key: name for key, name in self._touched.items() if self.state.counts_for(name)}
        if found:
            keys |= {key: name for key in self.state.cancelled if (name := key.partition("|")[0]) in found}
        return tuple(self._tell(key, name, found.get(name) or self._node) for key, name in sorted(keys.items()))

    def _tell(self, key: str, policy: str, node: NodeIdentity | None) -> Cancellation:
        assert node is not None, "somebody said it"
        moment, event_id, kind = self.state.cancelled[key]
        component = key.partition("|")[2]
        return Cancellation(
            policy=policy,
            generation=generation_of(node.instance_id),
            at=from_ms(moment),
            event_id=event_id,
            component=component,
            also=self.state.names_of(component),
            text=kind,
        )

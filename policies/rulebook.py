"""The policies in force, compiled and indexed: which rules can an event of this kind and Xid meet at all?

Decides how a policy is made ready for thousands of events a second. It must not know where policies are kept.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from policies.contract.decisions import PolicyPlan, WideRule
from policies.contract.events import FaultEvent
from policies.contract.recoveries import may_end
from policies.contract.vocabulary import EvidenceRule, Kind, PolicyMode
from policies.expressions.expression import Expression, compile_expression
from policies.expressions.members import Reader, reader_of
from policies.expressions.paths import paths
from policies.expressions.tokens import tokenise
from policies.facts.registry import FACTS, documents_of
from policies.lasting import KEPT_MS
from policies.measures import LATENESS_MS, Measure
from policies.model import Policy
from policies.scopes import BY_PATH, WIDE

KIND, XID, PATH = "event.kind", "event.attributes.xid", "node.network_path"
_BY_PLACE = (PATH, "neighbours.same_kind_rack", "neighbours.same_kind_switch")
_ANY_OTHER = -1  # stands for every Xid that no rule names; real ones are positive


@dataclass(frozen=True)
class AcceptedPolicy:
    """One revision that the guard let through. ``hash`` is the fingerprint of its document."""

    policy: Policy
    revision: int
    hash: str


@dataclass(frozen=True)
class Rule:
    """One accepted policy, ready to be asked."""

    name: str
    revision: int
    hash: str
    plan: PolicyPlan
    when: Expression
    unless: Expression | None
    measure: Measure
    per_node: bool
    distinct: Reader | None
    dwell: int = 0  # how long (ms) it must hold; 0: it is counted instead
    wide: WideRule | None = None  # where coordinate counts, over many nodes
    asks_path: bool = False  # where the node is in the network matters to it
    cancel_when: Expression | None = None
    heals: bool = False  # a healthy observation takes its reason away
    same: Reader | None = None  # what counts together agrees in it
    facts: tuple[str, ...] = ()  # the members it asks for that no event tells
    asks_facts: frozenset[str] = frozenset()  # the documents that answer them, by name


Candidates = tuple[tuple[Rule, Expression | None], ...]
"""Rules with what is left to ask of each; None: nothing is left, it matches."""


@dataclass(frozen=True)
class Rulebook:
    """All rules that are not off, in the order of their names."""

    rules: tuple[Rule, ...]
    horizons: Mapping[str, int]  # policy name -> how long (ms) what it counted may still matter
    lasting: Mapping[str, Rule]  # those with `for`, by name
    _xids: frozenset[int]
    _cache: dict[Kind | int, Candidates] = field(default_factory=dict, repr=False)
    _dwelling: dict[Kind, tuple[Rule, ...]] = field(default_factory=dict, repr=False)
    asks_path: bool = False  # one of them does
    asks_facts: bool = False  # one of them does
    may_end: bool = False  # something takes the reason of one of them away
    _cancelled: dict[Kind, Candidates] = field(default_factory=dict, repr=False)
    _news: dict[Kind, bool] = field(default_factory=dict, repr=False)
    _healed: dict[Kind, tuple[Rule, ...]] = field(default_factory=dict, repr=False)
    _facts: dict[Kind | int, frozenset[str]] = field(default_factory=dict, repr=False)

    def candidates(self, event: FaultEvent) -> Candidates:
        """Return the rules that *event* may meet."""
        key = self._sort_of(event)
        found = self._cache.get(key)
        if found is None:
            found = self._cache[key] = self._narrow(key)
        return found

    def concerned(self, event: FaultEvent) -> Iterator[Rule]:
        """Yield the rules that *event* may meet, and those whose reason it may take away."""
        for rule, _rest in self.candidates(event):
            yield rule
        for rule, _rest in self.cancelled_by(event.kind):
            yield rule

    def facts_asked(self, event: FaultEvent) -> frozenset[str]:
        """Return the documents that the rules which *event* concerns ask for facts, by name."""
        key = self._sort_of(event)
        found = self._facts.get(key)
        if found is None:
            asked = (rule.asks_facts for rule in self.concerned(event))
            found = self._facts[key] = frozenset[str]().union(*asked)
        return found

    def dwelling(self, kind: Kind) -> Sequence[Rule]:
        """Return the rules with `for` that a fault of *kind* may meet."""
        found = self._dwelling.get(kind)
        if found is None:
            may = (rule for rule in self.lasting.values() if rule.when.discharge({KIND: kind.value}) is not None)
            found = self._dwelling[kind] = tuple(may)
        return found

    def cancelled_by(self, kind: Kind) -> Candidates:
        """Return the rules whose `cancel_when` an event of *kind* may meet."""
        found = self._cancelled.get(kind)
        if found is None:
            asked = ((rule, rule.cancel_when) for rule in self.rules if rule.cancel_when)
            left = ((rule, one.discharge({KIND: kind.value})) for rule, one in asked)
            may = ((rule, None if rest.is_settled else rest) for rule, rest in left if rest is not None)
            found = self._cancelled[kind] = tuple(may)
        return found

    def is_news(self, kind: Kind) -> bool:
        """Whether an event of *kind* may take the reason of a rule away."""
        found = self._news.get(kind)
        if found is None:
            ends = any(self.healed_by(one) or self.dwelling(one) for one in may_end(kind))
            found = self._news[kind] = ends or bool(self.cancelled_by(kind))
        return found

    def healed_by(self, kind: Kind) -> Sequence[Rule]:
        """Return the rules that a fault of *kind* may meet, and that its end takes the reason from."""
        found = self._healed.get(kind)
        if found is None:
            may = (rule for rule in self.rules if rule.heals and rule.when.discharge({KIND: kind.value}) is not None)
            found = self._healed[kind] = tuple(may)
        return found

    def _sort_of(self, event: FaultEvent) -> Kind | int:
        """Return what all events share that may meet the same rules: the Xid that rules name, else the kind."""
        kind = event.kind
        if kind is Kind.GPU_XID:
            value = event.attributes.get("xid")
            if type(value) is int:
                return value if value in self._xids else _ANY_OTHER
        return kind

    def _narrow(self, sort: Kind | int) -> Candidates:
        known: dict[str, Any] = {KIND: sort.value} if isinstance(sort, Kind) else {KIND: Kind.GPU_XID.value, XID: sort}
        left = ((rule, rule.when.discharge(known)) for rule in self.rules if not _is_excepted(rule, known))
        return tuple((rule, None if rest.is_settled else rest) for rule, rest in left if rest is not None)


def _is_excepted(rule: Rule, known: Mapping[str, Any]) -> bool:
    """Whether `unless` holds whatever else an event says: a rule for all codes but these is not asked about these."""
    left = None if rule.unless is None else rule.unless.discharge(known)
    return left is not None and left.is_settled


def compile_policies(accepted: Iterable[AcceptedPolicy]) -> Rulebook:
    """Return the rulebook of the *accepted* policies; those that are off are left out."""
    rules = tuple(
        _rule(one) for one in sorted(accepted, key=lambda one: one.policy.name) if one.policy.mode is not PolicyMode.OFF
    )
    conditions = (each for rule in rules for each in (rule.when, rule.unless) if each is not None)
    terms = (term for each in conditions for alternative in each.alternatives for term, _read in alternative)
    named = {value for term in terms if term.path == XID for value in term.texts}
    horizons = {rule.name: _horizon(rule) for rule in rules}
    lasting = {rule.name: rule for rule in rules if rule.dwell}
    xids = frozenset(value for value in named if isinstance(value, int)) - {_ANY_OTHER}
    return Rulebook(
        rules,
        horizons,
        lasting,
        xids,
        asks_path=any(rule.asks_path for rule in rules),
        asks_facts=any(rule.asks_facts for rule in rules),
        may_end=any(rule.heals or rule.cancel_when for rule in rules),
    )


def _horizon(rule: Rule) -> int:
    counted = rule.measure.within + rule.measure.cooling + LATENESS_MS
    return max(counted, KEPT_MS + rule.dwell)


def _rule(accepted: AcceptedPolicy) -> Rule:
    policy, count = accepted.policy, accepted.policy.count
    plan = policy.plan(accepted.revision)
    asked = _members(policy.when, policy.unless, policy.cancel_when)
    facts = tuple(sorted(asked & FACTS.keys()))
    return Rule(
        name=policy.name,
        revision=accepted.revision,
        hash=accepted.hash,
        plan=plan,
        when=compile_expression(policy.when),
        unless=None if policy.unless is None else compile_expression(policy.unless),
        measure=Measure(
            at_least=count.at_least,
            within=round(count.within * 1000),
            occurrence=round((count.occurrence or 0) * 1000),
            distinct=count.distinct is not None,
        ),
        per_node=count.per == "node",
        distinct=None if count.distinct is None else reader_of(count.distinct),
        same=None if count.same is None else reader_of(count.same),
        dwell=round((policy.dwell or 0) * 1000),
        wide=_wide(accepted, plan),
        asks_path=_asks_path(policy, asked),
        cancel_when=None if policy.cancel_when is None else compile_expression(policy.cancel_when),
        heals=(policy.evidence is EvidenceRule.PROBE or policy.dwell is not None) and count.per not in WIDE,
        facts=facts,
        asks_facts=documents_of(facts),
    )


def _members(*texts: str | None) -> frozenset[str]:
    """Return the members that expressions read."""
    return frozenset(path.member for text in texts if text for path in paths(tokenise(text)))


def _wide(accepted: AcceptedPolicy, plan: PolicyPlan) -> WideRule | None:
    count = accepted.policy.count
    per = next((each for each in WIDE if each == count.per), None)
    if per is None:
        return None
    return WideRule(
        plan=plan,
        hash=accepted.hash,
        per=per,
        at_least=count.at_least,
        within_ms=round(count.within * 1000),
        occurrence_ms=round((count.occurrence or 0) * 1000),
        distinct=count.distinct is not None,
        same=count.same or "",
    )


def _asks_path(policy: Policy, asked: Collection[str]) -> bool:
    """Whether *policy*, whose conditions read *asked*, counts, asks or limits by where a node is in the network.

    Neighbours are known by where findings say that their nodes are: those of this policy among them.
    """
    count = policy.count
    limited = any(limit.per == "rack" for limit in policy.limits.values())
    named = {*asked, *_members(count.distinct, count.same)}
    return count.per in BY_PATH or limited or not named.isdisjoint(_BY_PLACE)

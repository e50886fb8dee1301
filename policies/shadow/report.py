"""The report on policies in shadow: of each what it would have done, how often that was right, and which to arm first.

Decides the figures and the advice. It must not print, or know where incidents are kept.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from policies.contract.decisions import PolicyPlan
from policies.coordination.incident import Incident
from policies.gpu_hours import Span, gpu_hours_in, gpus_of_run
from policies.model import TrustRule
from policies.shadow.cases import NEEDLESS, REAL, Case, Ending, cases_of
from policies.shadow.hits import touches

LONGEST_LOSS = timedelta(hours=24)
_TRUST = TrustRule()  # of plans of before it was measured
ASSUMPTIONS = (
    "what is found of one node with less than 30 minutes between is one case; a case is settled after a day",
    "of people only what they say of the hardware counts (`relight incident verdict`): a no or a close tells nothing",
    "GPU-hours count from when it would have acted until somebody did, or until a fault that came back was seen last",
    "they are those of the whole run, a GPU a rank, else of its nodes that incidents name; 24 hours a case at most",
    "a node has the GPUs of its instance type, 8 where that is unknown",
)


class Advice(StrEnum):
    """What to do with a policy in shadow."""

    ARM = "arm"
    WAIT = "wait"
    MEND = "mend"


@dataclass(frozen=True)
class PolicyReport:
    """One policy that would have acted. ``endings`` counts its cases; ``gpu_hours`` is what it would have saved."""

    plan: PolicyPlan
    cases: tuple[Case, ...]
    endings: Mapping[Ending, int]
    gpu_hours: float

    @property
    def real(self) -> int:
        """Cases of which it is known that something had to be done."""
        return sum(self.endings.get(each, 0) for each in REAL)

    @property
    def needless(self) -> int:
        """Cases of which it is known that nothing had to be done."""
        return sum(self.endings.get(each, 0) for each in NEEDLESS)

    @property
    def right(self) -> float | None:
        """The share of the real ones; None where nothing is known."""
        return self.real / (self.real + self.needless) if self.real + self.needless else None

    @property
    def advice(self) -> Advice:
        """What to do with it; whom its own `trust` would put in shadow again at once is not armed."""
        if self.right is None:
            return Advice.WAIT
        return Advice.ARM if self.right >= (self.plan.trust or _TRUST).at_least else Advice.MEND


@dataclass(frozen=True)
class Report:
    """``policies`` would have acted, the first candidates to arm first.

    ``quiet`` are in shadow and would have done nothing, ``tell_only`` are in shadow and touch nothing. ``acted``
    incidents were acted on by others meanwhile, of ``incidents`` in all.
    """

    since: datetime
    until: datetime
    policies: tuple[PolicyReport, ...]
    quiet: tuple[str, ...]
    tell_only: int
    incidents: int
    acted: int

    @property
    def candidates(self) -> tuple[PolicyReport, ...]:
        """Those to arm."""
        return tuple(each for each in self.policies if each.advice is Advice.ARM)


def report_of(
    incidents: Sequence[Incident], shadow: Mapping[str, PolicyPlan], since: datetime, until: datetime
) -> Report:
    """Return the report on the policies in *shadow* from *since* until *until*, which is now.

    *incidents* are those of all policies that are open or changed since *since*, in whatever order.
    """
    by_policy: dict[str, list[Case]] = {}
    for case in cases_of(incidents, shadow, since, until):
        by_policy.setdefault(case.plan.name, []).append(case)
    nodes = _nodes_of_runs(incidents)
    told = [_policy(shadow[name], cases, nodes) for name, cases in by_policy.items()]
    begun = [each for each in incidents if since <= each.opened_at < until]
    return Report(
        since,
        until,
        tuple(sorted(told, key=_rank)),
        tuple(sorted(name for name, plan in shadow.items() if touches(plan) and name not in by_policy)),
        sum(not touches(plan) for plan in shadow.values()),
        len(begun),
        sum(bool(each.done) for each in begun),
    )


def _policy(plan: PolicyPlan, cases: Sequence[Case], nodes: Mapping[tuple[str, str], int]) -> PolicyReport:
    return PolicyReport(plan, tuple(cases), Counter(case.ending for case in cases), _gpu_hours(cases, nodes))


def _rank(one: PolicyReport) -> tuple[int, float, int, str]:
    return [*Advice].index(one.advice), -one.gpu_hours, -one.real, one.plan.name


def _gpu_hours(cases: Iterable[Case], nodes: Mapping[tuple[str, str], int]) -> float:
    """Return what was lost until somebody acted; of one node or run an hour is lost once."""
    outages: dict[tuple[str, str], list[tuple[Span, int]]] = {}
    for case in cases:
        if case.lost_until is None or case.ending not in REAL or case.lost_until <= case.at:
            continue
        key = (case.cluster, case.job or case.instance)
        span = case.at, case.at + min(case.lost_until - case.at, LONGEST_LOSS)
        outages.setdefault(key, []).append((span, _gpus(case, nodes)))
    return sum(map(gpu_hours_in, outages.values()))


def _gpus(case: Case, nodes: Mapping[tuple[str, str], int]) -> int:
    """Return how many GPUs stood still: those of the run, else of the node."""
    return gpus_of_run(case.instance_type, case.world_size, nodes.get((case.cluster, case.job), 1))


def _nodes_of_runs(incidents: Iterable[Incident]) -> dict[tuple[str, str], int]:
    """Return on how many nodes each run was seen."""
    nodes: dict[tuple[str, str], set[str]] = {}
    for each in incidents:
        if each.job:
            nodes.setdefault((each.cluster, each.job.id), set()).add(each.node.instance_id)
    return {run: len(found) for run, found in nodes.items()}

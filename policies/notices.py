"""What a good policy asks for that comes to nothing today, told to whoever writes it. Nothing is refused for it.

A person who writes `do: [isolate, drain]` must learn before the fault that nobody drains, and that nobody isolates
either. It must not know where the policy was written.
"""

from collections.abc import Iterator, Sequence

from policies.contract.recoveries import ENDS
from policies.contract.vocabulary import Action
from policies.coordination.plan import CARRIED_OUT, FROM_OUTSIDE
from policies.expressions.checker import pinned
from policies.expressions.paths import paths
from policies.expressions.tokens import tokenise
from policies.model import LimitRule, Policy
from policies.problems import Problem

OF_A_RUN = ("job.", "neighbours.same_kind_job")


def notices(policy: Policy) -> list[Problem]:
    """Return what of *policy* has no effect, or another than it seems to have."""
    return [
        *_nobody("do", policy.do),
        *_nobody("otherwise", policy.otherwise),
        *(each for name, rule in policy.limits.items() for each in _limited(name, rule)),
        *_jobless(policy, "when", policy.when),
        *_jobless(policy, "unless", policy.unless or ""),
        *_endless(policy),
    ]


def _nobody(field: str, ladder: Sequence[Action]) -> Iterator[Problem]:
    missing = [action for action in ladder if action not in CARRIED_OUT]
    if missing:
        beside = ", not even by the actions beside it" if len(missing) < len(ladder) else ""
        yield Problem.of(
            field, f"{', '.join(missing)} is carried out by nobody yet.", f"It is told; nothing is touched{beside}."
        )


def _limited(name: str, rule: LimitRule) -> Iterator[Problem]:
    if rule.percent is None:
        return
    known = {
        "job": "a job has a size only where its training tells its ranks, on instance types whose GPUs are known.",
        "rack": "a rack has a size only where EC2 tells where its nodes are.",
    }
    if rule.per in known:
        yield Problem.of(f"limits.{name}.percent", known[rule.per], "Elsewhere it allows one.")


def _endless(policy: Policy) -> Iterator[Problem]:
    if policy.dwell is None:
        return
    kinds = pinned(tokenise(policy.when), "event.kind")
    endless = sorted(str(kind) for kind in kinds if kind not in ENDS)
    if endless:
        hint = "So it holds from its first sign on; `count` asks how often instead."
        yield Problem.of("for", f"nothing tells that {', '.join(endless)} is over.", hint)


def _jobless(policy: Policy, field: str, condition: str) -> Iterator[Problem]:
    """What is asked about a run, of kinds that are told by who knows no run."""
    kinds = pinned(tokenise(policy.when), "event.kind")
    if not kinds or not kinds <= FROM_OUTSIDE:
        return
    asked = sorted({path.member for path in paths(tokenise(condition)) if path.member.startswith(OF_A_RUN)})
    for member in asked:
        reason = f"{member} is never there: {min(map(str, kinds))} is told by who knows no run."
        yield Problem.of(field, reason, "What needs it is unanswered.")

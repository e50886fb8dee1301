"""Mistakes of settle, evidence, deadline and limits: what is too late, too short, or holds nobody back.

Decides by coordinate's own thresholds where there are some; the others name their source.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from policies.contract.restraints import Hours
from policies.contract.vocabulary import Action, EvidenceRule
from policies.coordination.rules import STALE_SECONDS
from policies.lint.acts import stays_broken
from policies.lint.flaw import Flaw
from policies.lint.reading import HARD, ON_NODES, Reading
from policies.precision.acts import ACTIONS
from policies.schedules import DAY_MINUTES, DAYS, parse_span, parse_zone, permits

# What an act takes at the very least, in seconds; the deadline runs after `settle`. An instance that is launched passes
# its status checks after some minutes (Amazon EC2, "Status checks": each runs every minute), a reboot likewise; a reset
# of a GPU and its proof take tens of seconds; a resumed run is confirmed by a new step, and a checkpoint must have been
# quiet for 15 s (functions/checkpoints/choosing.py).
LEAST_SECONDS: Mapping[Action, float] = {
    Action.REPLACE_NODE: 180.0,
    Action.REBOOT_NODE: 180.0,
    Action.RESET_GPU: 30.0,
    Action.RELOAD_DRIVER: 30.0,
    Action.RESTART_SERVICE: 15.0,
    Action.RESTART_PROCESS: 10.0,
    Action.DRAIN: 30.0,
    Action.RESUME_JOB: 60.0,
}
# By how much an act takes away, the most first. What resumes a run is held back with what stops it. What stands in none
# (it tells, keeps evidence, ranks a run lower) takes nothing out of service.
LIMITS: Mapping[str, frozenset[Action]] = {
    "replacements": frozenset({Action.REPLACE_NODE, Action.RECLAIM}),
    "reboots": frozenset({Action.REBOOT_NODE}),
    "resets": frozenset({Action.RESET_GPU, Action.RELOAD_DRIVER}),
    "suspensions": frozenset({Action.SUSPEND_JOB, Action.RESUME_JOB}),
    "restarts": frozenset({Action.RESTART_PROCESS, Action.RESTART_SERVICE, Action.RESUME_JOB, Action.REQUEUE_JOB}),
    "isolations": frozenset({Action.ISOLATE, Action.DRAIN, Action.RESET_GPU}),
}
_TO_NODES = ON_NODES | {Action.RECLAIM}


def timing_flaws(read: Reading) -> Iterator[Flaw]:
    """Yield what is wrong with the spans of time and the limits of *read*."""
    yield from _evidence(read)
    yield from _deadline(read)
    yield from _limits(read)
    yield from _hours(read)
    yield from _needless(read)


def _evidence(read: Reading) -> Iterator[Flaw]:
    fresh = STALE_SECONDS[read.policy.evidence]
    if read.acts and read.policy.settle >= fresh:
        reason = f"{read.policy.evidence} evidence is fresh for {fresh:g} s, and settle takes {read.policy.settle:g} s."
        longer = [rule for rule, seconds in sorted(STALE_SECONDS.items(), key=_seconds) if seconds > read.policy.settle]
        fits = [rule for rule in longer if rule is not EvidenceRule.LATCHED or not stays_broken(read)]
        others = " or ".join(f"evidence: {rule}" for rule in fits)
        yield Flaw.of("L304", "settle", reason, f"Shorten it{f', or take {others}' if others else ''}.")


def _seconds(pair: tuple[EvidenceRule, float]) -> float:
    return pair[1]


def _deadline(read: Reading) -> Iterator[Flaw]:
    policy = read.policy
    least = sum(LEAST_SECONDS.get(action, 0.0) for action in policy.do)
    if policy.deadline < least:
        yield Flaw.of(
            "L309",
            "deadline",
            f"{policy.deadline:g} s, and what `do` asks takes {least:g} s at least.",
            "Give it more: past it the incident parks.",
        )
    every = frozenset(policy.do) | frozenset(policy.otherwise)
    if every & HARD and "deadline" not in policy.model_fields_set:
        yield Flaw.of(
            "L308",
            "deadline",
            f"{', '.join(sorted(every & HARD))} without a deadline of its own.",
            "Say how long all of it may take, say 30m.",
        )


def _limits(read: Reading) -> Iterator[Flaw]:
    policy, every = read.policy, frozenset(read.policy.do) | frozenset(read.policy.otherwise)
    limited = every & frozenset().union(*LIMITS.values())
    if limited and not policy.limits:
        asked = ", ".join(f"{name}: {{at_most: 2, within: 10m}}" for name in _limits_of(read))
        reason = f"nothing limits how often {', '.join(sorted(limited))} happens."
        yield Flaw.of("L305", "limits", reason, f"limits: {{{asked}}}")
    for name, rule in policy.limits.items():
        path = f"limits.{name}"
        if not every & LIMITS[name]:
            yield Flaw.of(
                "L306",
                path,
                "the policy never does what it limits, and takes shares from those that do.",
                "Name the acts that it does.",
            )
        if rule.percent is not None and rule.percent >= 100:  # noqa: PLR2004 - all of them
            yield Flaw.of("L307", path, "100 percent of the nodes hold nobody back.", "Say how many at most.")
        if rule.per == "job" and every & HARD and len(policy.limits) == 1:
            yield Flaw.of(
                "L307", path, "a node without a job is not held back by a limit per job.", "Add one per: cluster."
            )


def _limits_of(read: Reading) -> Iterator[str]:
    """Yield the limit of the hardest that *read* does to a node, and of what it does to a run for no node's sake.

    Those of `otherwise` where `do` takes nothing: an incident takes its shares once, before its first act.
    """
    ladders = (frozenset(actions) for actions in (read.policy.do, read.policy.otherwise))
    acts = next(found for actions in ladders if (found := actions & frozenset().union(*LIMITS.values())))
    to_nodes, to_runs = acts & _TO_NODES, acts - _TO_NODES
    groups = (to_nodes, frozenset() if to_nodes & HARD else to_runs)
    yield from (next(name for name, held in LIMITS.items() if group & held) for group in groups if group)


def _hours(read: Reading) -> Iterator[Flaw]:
    schedule = read.policy.schedule
    if schedule is None:
        return
    hours = Hours(only=schedule.only, never=schedule.never, zone=schedule.zone)
    spans = [parse_span(text) for text in (*schedule.only, *schedule.never)]
    edges = {0, *(minute % DAY_MINUTES for span in spans for minute in (span.begin, span.end))}
    monday = datetime(2026, 1, 5, tzinfo=parse_zone(schedule.zone))
    moments = (monday + timedelta(days=day, minutes=minute) for day in range(len(DAYS)) for minute in sorted(edges))
    if not any(permits(hours, moment) for moment in moments):
        yield Flaw.of(
            "L319", "schedule", "no hour of the week is left: it never acts.", "Leave it out; mode: shadow is for that."
        )


def _needless(read: Reading) -> Iterator[Flaw]:
    policy = read.policy
    if "approve_within" in policy.model_fields_set and not policy.approval:
        hint = "Add approval: true." if read.acts else "Leave it out."
        yield Flaw.of("L320", "approve_within", "nobody is asked to approve.", hint)
    for field in ("schedule", "acts"):
        if field in policy.model_fields_set and not read.acts:
            yield Flaw.of("L320", field, "the policy only tells, and does that at any time.", "Leave it out.")
    if "trust" in policy.model_fields_set:
        yield from _trust(read)


def _trust(read: Reading) -> Iterator[Flaw]:
    trust, every = read.policy.trust, frozenset(read.policy.do) | frozenset(read.policy.otherwise)
    if not every & ACTIONS:
        yield Flaw.of("L320", "trust", "the policy does nothing to hardware that could be sound.", "Leave it out.")
    elif trust.at_least == 0:
        yield Flaw.of("L321", "trust.at_least", "no share is less than 0, so it acts on however wrong.", "Say 0.8.")
    elif trust.of - 1 < trust.at_least * trust.of:
        reason = f"one act on sound hardware among {trust.of} that are judged puts it in shadow."
        yield Flaw.of("L322", "trust", reason, "If that is meant, leave it; else ask for more of them.")

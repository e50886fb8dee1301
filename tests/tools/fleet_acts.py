"""A site in which every rung has an effect that can be counted: nodes, one job, acts that observe before they do."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import ParamSpec, Protocol, TypeVar

from functions.acts.act import Act, ActContext
from policies.contract.decisions import RungReport
from policies.contract.rungs import Rung

P = ParamSpec("P")
R = TypeVar("R")


class Guard(Protocol):
    """Lets a call through, unless the process dies at it."""

    def __call__(self, call: Callable[P, R]) -> Callable[P, R]: ...


def unguarded(call: Callable[P, R]) -> Callable[P, R]:
    return call


@dataclass
class Site:
    """What acts have done: ``effects`` by (incident, rung, fence), ``stopped`` by job, and the whole ``history``."""

    effects: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    cordoned: set[str] = field(default_factory=set)
    successors: dict[str, str] = field(default_factory=dict)
    stopped: dict[str, bool] = field(default_factory=dict)
    history: list[tuple[str, str, datetime]] = field(default_factory=list)
    verified: set[str] = field(default_factory=set)

    def effect(self, context: ActContext, what: str, change: Callable[[], object]) -> None:
        change()
        self.effects[context.incident, context.rung, context.fence] += 1
        self.history.append((what, context.incident, context.now))

    def times(self, what: str) -> int:
        return sum(1 for each, _, _ in self.history if each == what)


@dataclass
class Does:
    """An act made of a function. ``takes`` is how many seconds it waits from its first intention on."""

    do: Callable[[ActContext], RungReport]
    takes: float = 0.0

    def advance(self, context: ActContext) -> RungReport:
        report = self.do(context)
        if (context.now - context.intended_at).total_seconds() < self.takes and report.reason == "":
            return context.waiting(2.0, "under way")
        return report


class SiteActs:
    """The acts of every executor. Each effect goes through *guard*, where the process may die."""

    def __init__(self, site: Site, guard: Guard) -> None:
        self._site = site
        self._effect = guard(site.effect)

    def isolate(self, context: ActContext) -> RungReport:
        node = context.node.instance_id
        if node not in self._site.cordoned:
            self._effect(context, "isolate", lambda: self._site.cordoned.add(node))
        return context.done()

    def suspend(self, context: ActContext) -> RungReport:
        job = job_of(context)
        if not self._site.stopped.get(job):
            self._effect(context, "suspend", lambda: self._site.stopped.update({job: True}))
        return context.done(suspended_at=str(context.now))

    def replace(self, context: ActContext) -> RungReport:
        old = context.node.instance_id
        if old not in self._site.successors:
            self._effect(context, "replace", lambda: self._site.successors.update({old: f"{old}-successor"}))
        return context.done(new_instance=self._site.successors[old])

    def verify(self, context: ActContext) -> RungReport:
        new = str(context.facts["new_instance"])
        if new not in self._site.verified:
            self._effect(context, "verify", lambda: self._site.verified.add(new))
        return context.done()

    def resume(self, context: ActContext) -> RungReport:
        job = job_of(context)
        if self._site.stopped.get(job):
            self._effect(context, "resume", lambda: self._site.stopped.update({job: False}))
        return context.done(resumed_step=context.facts["chosen_step"])


def job_of(context: ActContext) -> str:
    assert context.job is not None
    return context.job.id


def acts_on(site: Site, guard: Guard = unguarded) -> dict[Rung, Act]:
    acts = SiteActs(site, guard)
    return {
        Rung.ISOLATE: Does(acts.isolate),
        Rung.COLLECT_EVIDENCE: Does(lambda context: context.done(evidence="s3://evidence")),
        Rung.FENCE_NODE: Does(lambda context: context.done()),
        Rung.SUSPEND_JOB: Does(acts.suspend, takes=6),
        Rung.REPLACE_NODE: Does(acts.replace, takes=40),
        Rung.VERIFY_NODE: Does(acts.verify, takes=10),
        Rung.CHOOSE_CHECKPOINT: Does(lambda context: context.done(chosen_step=900, checkpoint="s3://ckpt/step-900")),
        Rung.RESUME_JOB: Does(acts.resume, takes=4),
        Rung.CONFIRM_RESUME: Does(lambda context: context.done(confirmed_step=901), takes=15),
    }

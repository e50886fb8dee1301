"""Which nodes are silent, and whether their silence says anything: pure, from signs of life and what EC2 says.

Silence means something only while the pipeline is proven: the cluster's canary came through lately, and so did one that
took the very way of the silent node (same partition key, so same shard and same lane of it) well after the node's last
sign. Many nodes silent at once accuse what they have in common, never each of them. It must not know AWS, nor decide
what is done about a silent node.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from functions.ports.heartbeats import is_canary, name_of_canary
from functions.ports.triage import Heard
from policies.contract.envelope import CANARY_NODE

# An agent speaks every 30 s and triage writes that at most once a minute: a healthy node's sign is up to 90 s old.
SILENT_AFTER = timedelta(seconds=150)
LEAST_SILENT_AFTER = timedelta(seconds=120)
CANARY_FRESH = timedelta(seconds=180)  # as the alarm CanaryMissing: three sweeps
# Parts of the patience after which a node is overdue (for the count of many) and worth a canary of its own.
_OVERDUE, _QUIET = 0.8, 0.5
MANY = 3
MANY_PERCENT = 20.0


@dataclass(frozen=True)
class Patience:
    """How long is long. All by the real clock: whoever shortens waits shortens these."""

    silent_after: timedelta = SILENT_AFTER
    canary_fresh: timedelta = CANARY_FRESH

    @property
    def overdue_after(self) -> timedelta:
        """The age of a sign that no healthy node's reaches."""
        return self.silent_after * _OVERDUE

    @property
    def quiet_after(self) -> timedelta:
        """The age of a sign from which on the node's way is tried, so that it is proven when the time has come."""
        return self.silent_after * _QUIET


@dataclass(frozen=True)
class Signs:
    """The signs of one cluster. ``quiet`` are nodes whose last sign is old enough to be looked at, oldest first."""

    proven: bool
    quiet: tuple[Heard, ...] = ()
    canaries: Mapping[str, Heard] = field(default_factory=dict)
    talking: int = 0


@dataclass(frozen=True)
class Verdict:
    """``silent`` are nodes to accuse, one by one. ``many`` are so many that something they share is at fault."""

    silent: tuple[Heard, ...] = ()
    many: tuple[Heard, ...] = ()


def read_signs(heard: Mapping[str, Heard], now: datetime, patience: Patience) -> Signs:
    """Return what *heard* says at *now*; of a pipeline that is not proven nothing else is said."""
    canary = heard.get(CANARY_NODE)
    if canary is None or now - canary.at > patience.canary_fresh:
        return Signs(proven=False)
    nodes = [one for name, one in heard.items() if not is_canary(name)]
    quiet = sorted((one for one in nodes if now - one.at >= patience.quiet_after), key=lambda one: one.at)
    canaries = {name: one for name, one in heard.items() if is_canary(name)}
    return Signs(proven=True, quiet=tuple(quiet), canaries=canaries, talking=len(nodes) - len(quiet))


def judge(signs: Signs, expected: Collection[str], now: datetime, patience: Patience) -> Verdict:
    """Return who is silent among the *expected*: instance ids that EC2 says run and that nobody takes away."""
    alive = [one for one in signs.quiet if one.instance_id in expected]
    overdue = [one for one in alive if now - one.at >= patience.overdue_after]
    if len(overdue) >= MANY and len(overdue) * 100 > MANY_PERCENT * (len(alive) + signs.talking):
        return Verdict(many=tuple(overdue))
    return Verdict(silent=tuple(one for one in overdue if _is_silent(one, signs.canaries, now, patience)))


def _is_silent(one: Heard, canaries: Mapping[str, Heard], now: datetime, patience: Patience) -> bool:
    canary = canaries.get(name_of_canary(one.instance_id))
    if canary is None or now - canary.at > patience.canary_fresh or canary.at - one.at < patience.overdue_after:
        return False
    return now - one.at >= patience.silent_after

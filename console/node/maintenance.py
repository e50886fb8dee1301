"""A person takes a node in hand, for how long, and lets it go again; and who has which.

Decides for how long that may be said at once: a forgotten word must not leave a broken node alone for ever. It must not
print or know AWS.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from console.node.parts import NodeError, Parts
from policies.durations import parse_duration
from policies.facts.maintenance import Maintenance

MOST_WHY = 200
LEAST, MOST = timedelta(minutes=1), timedelta(days=14)


@dataclass(frozen=True)
class Held:
    """A node that was just taken, let go, or found to be nobody's: what stood there ``before``, what does ``now``."""

    cluster: str
    instance: str
    before: Maintenance | None
    now: Maintenance | None


def take(parts: Parts, named: str, cluster: str, words: Maintenance) -> Held:
    """Say *words* of the node; NodeError when EC2 knows no such instance, or nobody knows its cluster."""
    instance = parts.instance(named)
    where = _cluster_of(parts, instance, cluster, known=False)
    before = _standing(parts, where, instance)
    parts.hands.put(where, instance, words)
    return Held(where, instance, before, words)


def let_go(parts: Parts, named: str, cluster: str, by: str) -> Held:
    """End it; a node that nobody has in hand stays as it is."""
    instance = parts.instance(named)
    where = _cluster_of(parts, instance, cluster, known=True)
    before = _standing(parts, where, instance)
    if before is None:
        return Held(where, instance, None, None)
    ended = before.model_copy(update={"until": parts.clock(), "ended_by": by})
    parts.hands.put(where, instance, ended)
    return Held(where, instance, before, None)


def everyone(parts: Parts, cluster: str) -> Mapping[str, Mapping[str, Maintenance]]:
    """Return cluster -> instance -> what is said of each node that a person has in hand now."""
    wanted = [_checked(parts, cluster)] if cluster else parts.clusters
    now = parts.clock()
    found = {one: parts.hands.everyone(one) for one in wanted}
    return {one: {each: word for each, word in words.items() if now < word.until} for one, words in found.items()}


def until(now: datetime, text: str) -> datetime:
    """Return the moment that lies *text* (``2h``) ahead; NodeError when that is no duration, or too short or long."""
    try:
        ahead = timedelta(seconds=parse_duration(text))
    except (ValueError, OverflowError) as error:
        raise NodeError(f"--for {error}.", hint="Say 2h, 90m or 1d.") from None
    if not LEAST <= ahead <= MOST:
        raise NodeError(f"--for {text} is less than a minute or more than 14 days.", hint="Say it again when it ends.")
    return now + ahead


def _standing(parts: Parts, cluster: str, instance: str) -> Maintenance | None:
    found = parts.hands.get(cluster, instance)
    return found if found and parts.clock() < found.until else None


def _cluster_of(parts: Parts, instance: str, cluster: str, *, known: bool) -> str:
    """Return the cluster; of a node that is let go (*known*) EC2 need not know any more."""
    if cluster and known:
        return _checked(parts, cluster)
    tagged = parts.names.cluster_of(instance)
    if tagged is None and not known:
        raise NodeError(f"EC2 knows no instance {instance} here.", hint="Is it the right id, account and region?")
    if cluster or tagged in parts.clusters:
        return _checked(parts, cluster or tagged or "")
    if len(parts.clusters) == 1:
        return parts.clusters[0]
    raise NodeError(f"{instance} carries no tag relight:cluster.", hint=f"Say --cluster {'|'.join(parts.clusters)}.")


def _checked(parts: Parts, cluster: str) -> str:
    if cluster not in parts.clusters:
        raise NodeError(f"there is no cluster {cluster!r} here.", hint=f"There are: {', '.join(parts.clusters)}.")
    return cluster

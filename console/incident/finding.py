"""Which incidents a person means: by state, node and run, or by the first characters of an id.

It must not print.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from console.incident.parts import IncidentError, Parts
from policies.coordination.incident import Incident
from policies.moments import earlier

WHOLE_ID = 32
_SHORT = 12


@dataclass(frozen=True)
class Wish:
    """``closed`` also lists what was closed within ``days``. ``node`` is an instance id or a node's name."""

    closed: bool = False
    node: str = ""
    job: str = ""
    cluster: str = ""
    days: int = 14


def find_all(parts: Parts, wish: Wish) -> Sequence[Incident]:
    """Return the incidents that *wish* names, last changed first; IncidentError for a cluster that is not there."""
    if wish.cluster and wish.cluster not in parts.clusters:
        raise IncidentError(
            f"there is no cluster {wish.cluster!r} here.", hint=f"There are: {', '.join(parts.clusters)}."
        )
    clusters = [wish.cluster] if wish.cluster else parts.clusters
    found = [each for cluster in clusters for each in _of_cluster(parts, cluster, wish)]
    mine = [each for each in found if _fits(each, wish)]
    return sorted(mine, key=lambda each: each.updated_at, reverse=True)


def unheard(parts: Parts, wish: Wish) -> Sequence[str]:
    """Return the node and the run of *wish* that no incident is about, a closed one neither: they may be mistyped."""
    alone = (replace(wish, job=""), replace(wish, node=""))
    named = zip((wish.node, wish.job), alone, strict=True)
    return [name for name, of in named if name and not find_all(parts, replace(of, closed=True))]


def find_one(parts: Parts, wanted: str, days: int) -> Incident:
    """Return the incident whose id is or begins with *wanted*; IncidentError when that is none, or not one alone."""
    if len(wanted) == WHOLE_ID:
        whole = parts.incidents.load(wanted)
        if whole is None:
            raise IncidentError(f"there is no incident {wanted}.", hint=_LIST)
        return whole
    listed = find_all(parts, Wish(closed=True, days=days)) if wanted else ()
    alike = [each for each in listed if each.id.startswith(wanted)]
    if not alike:
        raise IncidentError(f"no incident of the last {days} days has an id like {wanted!r}.", hint=_LIST)
    if len(alike) > 1:
        ids = ", ".join(each.id[:_SHORT] for each in alike[:5])
        raise IncidentError(f"{len(alike)} incidents have ids like {wanted!r}: {ids}.", hint="Give more of the id.")
    return parts.incidents.load(alike[0].id) or alike[0]


def _of_cluster(parts: Parts, cluster: str, wish: Wish) -> Sequence[Incident]:
    if wish.node.startswith("i-"):
        return parts.incidents.of_node(cluster, wish.node)
    if wish.job:
        return parts.incidents.of_job(cluster, wish.job)
    since = earlier(parts.clock(), timedelta(days=wish.days))
    closed = parts.incidents.closed(cluster, since) if wish.closed else ()
    return [*parts.incidents.open(cluster), *closed]


def _fits(incident: Incident, wish: Wish) -> bool:
    node = wish.node in {"", incident.node.instance_id, incident.node.name}
    job = wish.job in {"", incident.job.id if incident.job else ""}
    return node and job and (wish.closed or incident.status.is_open)


_LIST = "`relight incident list --closed` names those there are; --days looks further back."

"""How many nodes a scope has, for limits in per cent: a cluster, a rack, a job.

A cluster has those that were heard lately, a rack those of them that EC2 places there, a job as many as its ranks need,
as its training says, and never more than its cluster: a mistyped world size must not allow more acts. What nobody says
is left out, and stays at its floor. It must not know what a share is.
"""

from collections.abc import Collection, Mapping
from datetime import datetime

from functions.ports.coordination import Sizes
from functions.ports.facts import FactKey, FactReader
from policies.coordination.limits import ToMeasure
from policies.facts.job import JOB, fits_key, ranks_of


def measure(
    cluster: str, wanted: Collection[ToMeasure], *, sizes: Sizes, facts: FactReader, now: datetime
) -> Mapping[str, int]:
    """Return scope -> nodes of those *wanted* whose size is known. Raises DependencyError."""
    jobs = {one.job for one in wanted if one.job and fits_key(one.job)}
    keys = {job: FactKey(cluster, JOB.name, job) for job in jobs}
    told = facts.read(keys.values()) if keys else {}
    racks = {one.rack for one in wanted if not one.job} | ({""} if told else set())
    counted = sizes.living(cluster, racks) if racks else {}
    found: dict[str, int] = {}
    for one in wanted:
        ranks = ranks_of(told.get(keys[one.job]), now) if one.job in keys else None
        if ranks:
            found[one.scope] = min(-(-ranks // one.ranks), counted[""])
        elif not one.job:
            found[one.scope] = counted[one.rack]
    return found

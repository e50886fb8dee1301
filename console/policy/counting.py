"""How often each policy was right, and what nobody saw coming: what coordinate keeps of it, over a stack's clusters.

Decides how the shares of several clusters add up, and how they are written. It must not decide what counts
(`policies/precision/` does), nor print.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from policies.contract.errors import RelightError
from policies.contract.times import format_time
from policies.coordination.snapshot import Keys, Snapshot
from policies.precision.misses import Miss, Misses, misses_of, restarts_of
from policies.precision.record import Record
from policies.precision.verdicts import Precision, precision_of

HEADING = f"{'acts':>5} {'precision':>9} {'of':>12} {'missed':>6}"
_NONE = f"{'-':>5} {'-':>9} {'-':>12} {'-':>6}"


class Records(Protocol):
    """Coordinate's store, read only."""

    def read(self, cluster: str, keys: Keys) -> Snapshot:
        """Return the documents that *keys* name."""
        ...


@dataclass(frozen=True)
class Counted:
    """``records`` is cluster -> policy -> record; ``without`` says why there are none."""

    now: datetime
    records: Mapping[str, Mapping[str, Record | None]] = field(default_factory=dict)
    misses: Mapping[str, Misses | None] = field(default_factory=dict)
    without: str = ""

    def of(self, policy: str) -> dict[str, Any]:
        """Return what is known of *policy* for machines; the shares of clusters stand beside their sum."""
        if self.without:
            return {"precision": None}
        each = {cluster: precision_of(found.get(policy), self.now) for cluster, found in self.records.items()}
        missed = {cluster: self._missed(cluster, policy) for cluster in each}
        return {
            "precision": {
                **_document(_sum(each.values()), sum(missed.values())),
                "clusters": {cluster: _document(share, missed[cluster]) for cluster, share in each.items()},
            }
        }

    def columns(self, policy: str) -> str:
        """Return what is known of *policy* in the columns of `HEADING`."""
        found = _sum(precision_of(each.get(policy), self.now) for each in self.records.values())
        missed = sum(self._missed(cluster, policy) for cluster in self.records)
        if not found.acts and not missed:
            return _NONE
        value = "-" if found.value is None else f"{found.value:.2f}"
        presumed = f" ({found.presumed}?)" if found.presumed else ""
        return f"{found.acts:>5} {value:>9} {f'{found.judged}{presumed}':>12} {missed:>6}"

    def foot(self) -> Sequence[str]:
        """Return a line a cluster on the restarts that nobody saw coming."""
        if self.without:
            return [f"Precision and misses are left out: {self.without}"]
        lines = [
            f"{cluster}: {restarts_of(found, self.now)} ends of runs within 90 days that nobody wished,"
            f" {len(misses_of(found, self.now))} of them missed by every policy."
            for cluster, found in sorted(self.misses.items())
        ]
        return [*lines, "precision: share of judged acts on faulty hardware; of: judged acts (? presumed by silence)."]

    def all_misses(self) -> dict[str, Any]:
        """Return the restarts of each cluster for machines."""
        return {
            cluster: {
                "restarts": restarts_of(found, self.now),
                "missed": [_miss(each) for each in misses_of(found, self.now)],
            }
            for cluster, found in sorted(self.misses.items())
        }

    def _missed(self, cluster: str, policy: str) -> int:
        return sum(policy in each.policies for each in misses_of(self.misses.get(cluster), self.now))


def count(records: Records, clusters: Sequence[str], policies: Collection[str], now: datetime) -> Counted:
    """Return what is kept of *policies* in *clusters*."""
    keys = Keys(records=frozenset(policies), misses=frozenset({""}))
    read = {cluster: records.read(cluster, keys) for cluster in clusters}
    return Counted(
        now,
        {cluster: found.records for cluster, found in read.items()},
        {cluster: found.misses.get("") for cluster, found in read.items()},
    )


def counter(stack: str, region: str | None, table: str) -> Callable[[Collection[str]], Counted]:
    """Return who counts the policies of *table* by what its *stack* keeps; where that is not found, he says so."""

    def counted(policies: Collection[str]) -> Counted:
        now = datetime.now(UTC)
        try:
            return _of_stack(stack, region, table, policies, now)
        except RelightError as error:
            return Counted(now, without=f"{error.message} {error.hint}".strip())

    return counted


def _of_stack(stack: str, region: str | None, table: str, policies: Collection[str], now: datetime) -> Counted:
    from console import aws
    from console.dlq.adapters.asking import asking
    from console.dlq.adapters.stacks import CloudFormationStacks
    from functions.adapters.coordination import DynamoDBCoordinationStore

    with asking("connecting to AWS"):
        session = aws.session(region)
        found = CloudFormationStacks(session.client("cloudformation")).find(stack)
        fleet, incidents = (found.output(f"{name}Table") for name in ("Fleet", "Incidents"))
        client = session.client("dynamodb")
        store = DynamoDBCoordinationStore(client, fleet_table=fleet, incidents_table=incidents)
    if found.output("PoliciesTable") != table:
        return Counted(now, without=f"{table} is not the policies table of stack {stack}. Name it with --stack.")
    return count(store, found.output("Clusters").split(","), policies, now)


def _sum(each: Iterable[Precision]) -> Precision:
    shares = list(each)
    return Precision(
        acts=sum(share.acts for share in shares),
        faulty=sum(share.faulty for share in shares),
        healthy=sum(share.healthy for share in shares),
        presumed=sum(share.presumed for share in shares),
    )


def _document(found: Precision, missed: int) -> dict[str, Any]:
    return {
        "acts": found.acts,
        "precision": None if found.value is None else round(found.value, 4),
        "judged": found.judged,
        "faulty": found.faulty,
        "healthy": found.healthy,
        "presumed": found.presumed,
        "unknown": found.unknown,
        "missed": missed,
    }


def _miss(each: Miss) -> dict[str, Any]:
    return {
        "job": each.job,
        "instance": each.node,
        "kind": each.kind,
        "at": format_time(each.at),
        "policies": list(each.policies),
    }

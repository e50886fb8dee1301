"""The minute's look for silent nodes of one cluster: reads the signs, asks EC2 who should be alive, tells who is not.

Whoever EC2 does not call running, whom its group gives up, or on whom an incident already works, is not expected to
speak. What it finds goes on the stream like any event: policies decide what is done.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from functions.ports.acts import LeaseReader
from functions.ports.faults import FaultsLane
from functions.ports.heartbeats import SignsOfLife
from functions.ports.instances import Checks, Instance, Instances
from functions.ports.triage import Heard
from functions.settings import ClusterSettings
from functions.sweep.canaries import canary
from functions.sweep.events import many_silent, node_silent
from functions.sweep.silence import Patience, Verdict, judge, read_signs
from policies.contract.decisions import generation_of
from policies.contract.envelope import Envelope, NodeIdentity

CLUSTER_TAG = "relight:cluster"
GROUP_TAG = "aws:autoscaling:groupName"  # set by Auto Scaling itself, nobody else may
# Each costs two calls a minute. So many at once are a fault of the network, which is told by their number.
MOST_LOOKED_AT = 50


@dataclass(frozen=True)
class Lookout:
    """The ports of the look, and its patience."""

    signs: SignsOfLife
    instances: Instances
    leases: LeaseReader
    faults: FaultsLane
    patience: Patience

    def look(self, cluster: ClusterSettings, now: datetime) -> Verdict:
        """Put an event on the stream for each silent node of *cluster*, or one for many. Raises DependencyError."""
        signs = read_signs(self.signs.everyone(cluster.name), now, self.patience)
        if not signs.quiet:
            return Verdict()
        running = self._running(cluster, signs.quiet)
        looked_at = [one for one in signs.quiet if one.instance_id in running][:MOST_LOOKED_AT]
        ways = [one.instance_id for one in looked_at if self._is_expected(one, now)]
        unknown = running.keys() - {one.instance_id for one in looked_at}  # they count among many, and are not accused
        verdict = judge(signs, unknown.union(ways), now, self.patience)
        self.faults.put([*(canary(cluster.name, now, name) for name in ways), *self._told(running, verdict, now)])
        return verdict

    def _running(self, cluster: ClusterSettings, quiet: Sequence[Heard]) -> dict[str, Instance]:
        """Return those of the *quiet* that EC2 calls running and that are this cluster's, longest quiet first."""
        known = self.instances.describe([one.instance_id for one in quiet])
        found = {one.instance_id: known[one.instance_id] for one in quiet if one.instance_id in known}
        return {name: each for name, each in found.items() if each.state == "running" and _is_of(cluster, each)}

    def _is_expected(self, one: Heard, now: datetime) -> bool:
        lease = self.leases.load_lease(one.cluster, generation_of(one.instance_id))
        if lease is not None:
            given_up = lease.released_at is not None and lease.outcome == "replaced" and one.at <= lease.released_at
            if given_up or (not lease.released and now < lease.expires_at):
                return False
        membership = self.instances.membership(one.instance_id)
        return membership is None or not membership.leaving

    def _told(self, running: dict[str, Instance], verdict: Verdict, now: datetime) -> Iterator[Envelope]:
        for one in verdict.silent:
            node = _identity(one, running[one.instance_id])
            yield node_silent(node, one, _checks(self.instances.checks(one.instance_id)), now)
        if verdict.many:
            yield many_silent(verdict.many, now)


def _is_of(cluster: ClusterSettings, instance: Instance) -> bool:
    tagged = instance.tags.get(CLUSTER_TAG) == cluster.name
    return tagged or instance.tags.get(GROUP_TAG) in cluster.auto_scaling_groups


def _checks(checks: Checks | None) -> str:
    """Return EC2's status checks in one word: ok, impaired or unknown."""
    if checks is None:
        return "unknown"
    results = {checks.instance, checks.system}
    return "impaired" if "impaired" in results else "ok" if results == {"ok"} else "unknown"


def _identity(one: Heard, instance: Instance) -> NodeIdentity:
    told = instance.description
    return NodeIdentity(
        cluster=one.cluster,
        name=str(told.get("PrivateDnsName") or one.instance_id),
        instance_id=one.instance_id,
        instance_type=str(told.get("InstanceType") or ""),
        availability_zone=str((told.get("Placement") or {}).get("AvailabilityZone") or ""),
        boot_id=one.boot_id,
    )

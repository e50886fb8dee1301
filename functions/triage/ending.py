"""Puts what took reasons away into messages for coordinate, after the findings that it may be about.

Decides how cancellations are cut. The same ones always give the same messages, in whatever order they came.
"""

from collections.abc import Iterable

from policies.contract.decisions import FindingsMessage
from policies.contract.restraints import Cancellation

MOST_CANCELLATIONS = 200  # coordinate reads a lease for each; one has some three hundred bytes


def pack_cancellations(told: Iterable[tuple[str, Cancellation]]) -> list[FindingsMessage]:
    """Return the messages that carry what is *told* of a cluster each, every cancellation once."""
    by_cluster: dict[str, dict[tuple[str, str, str], Cancellation]] = {}
    for cluster, one in told:
        by_cluster.setdefault(cluster, {})[one.generation, one.policy, one.component] = one
    return [
        FindingsMessage(cluster=cluster, findings=(), cancellations=tuple(ordered[begin : begin + MOST_CANCELLATIONS]))
        for cluster, ones in sorted(by_cluster.items())
        for ordered in [[one for _key, one in sorted(ones.items())]]
        for begin in range(0, len(ordered), MOST_CANCELLATIONS)
    ]

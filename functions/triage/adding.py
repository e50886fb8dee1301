"""Puts contributions of a batch into messages for coordinate: by cluster and count, so many and no larger.

Decides how they are cut. The same contributions always give the same messages, in whatever order they came.
"""

from collections.abc import Iterable, Iterator

from functions.triage.batching import MESSAGE_LIMIT_BYTES
from policies.contract.decisions import Contribution, Contributions, FindingsMessage
from policies.contributions import group

MOST_ENTRIES = 200  # coordinate has ten seconds for ten messages


def pack_contributions(groups: Iterable[Contributions]) -> list[FindingsMessage]:
    """Return the messages that carry *groups*, each contribution once."""
    by_cluster: dict[str, dict[tuple[str, int, str, str], list[Contributions]]] = {}
    for one in groups:
        key = (one.rule.plan.name, one.rule.plan.revision, one.rule.hash, one.scope)
        by_cluster.setdefault(one.entries[0].node.cluster, {}).setdefault(key, []).append(one)
    return [
        FindingsMessage.model_construct(cluster=cluster, findings=(), contributions=tuple(part))
        for cluster, counts in sorted(by_cluster.items())
        for part in _parts([_merged(found) for _key, found in sorted(counts.items())])
    ]


def _merged(found: list[Contributions]) -> Contributions:
    return group(found[0].rule, found[0].scope, (entry for one in found for entry in one.entries))


def _parts(groups: Iterable[Contributions]) -> Iterator[list[Contributions]]:
    part: list[Contributions] = []
    entries: list[Contribution] = []
    size = number = 0
    for one in groups:
        shell = len(one.rule.to_json().encode()) + len(one.scope.encode()) + 64
        entries, size = [], size + shell
        for entry in one.entries:
            length = len(entry.to_json().encode()) + 1
            if number and (number == MOST_ENTRIES or size + length > MESSAGE_LIMIT_BYTES):
                yield [*part, *_some(one, entries)]
                part, entries, size, number = [], [], shell, 0
            entries.append(entry)
            size, number = size + length, number + 1
        part += _some(one, entries)
    if part:
        yield part


def _some(one: Contributions, entries: list[Contribution]) -> list[Contributions]:
    return [group(one.rule, one.scope, entries)] if entries else []

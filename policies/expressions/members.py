"""The names an expression may use: what they are, which words they may hold, and how each is read from an event.

Decides the members of `event`, `job` and `node`; those that no event tells are facts (`policies/facts`). It must not
parse expressions.
"""

from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from policies.contract.envelope import NodeIdentity
from policies.contract.events import FaultEvent
from policies.contract.vocabulary import ComponentType, Kind, Orchestrator, Persistence, Severity, Source
from policies.expressions.attributes import NUMERIC
from policies.facts import registry
from policies.facts.snapshot import NOTHING_KNOWN, Facts

# Which GPU an instance family carries (Amazon EC2 user guide, "Accelerated computing instances"; read 2026-03).
ARCHITECTURES: Mapping[str, str] = {
    "p3": "volta",
    "p3dn": "volta",
    "g4dn": "turing",
    "g5": "ampere",
    "p4d": "ampere",
    "p4de": "ampere",
    "g6": "ada",
    "g6e": "ada",
    "gr6": "ada",
    "p5": "hopper",
    "p5e": "hopper",
    "p5en": "hopper",
    "p6-b200": "blackwell",
    "p6-b300": "blackwell",
    "p6e-gb200": "blackwell",
    "p6e-gb300": "blackwell",
}


@lru_cache(maxsize=256)  # a cluster has a few types, asked for with every event
def architecture_of(instance_type: str) -> str | None:
    """Return the GPU architecture of ``p5.48xlarge`` and the like, ``u-p6e-gb200x36`` (an UltraServer) among them."""
    family = instance_type.partition(".")[0].removeprefix("u-")
    known = ARCHITECTURES.get(family)
    return known or next((word for name, word in ARCHITECTURES.items() if family.startswith(f"{name}x")), None)


class NodeFacts(NamedTuple):
    """What is known of the node besides the event: its identity, and facts about it, its job and its neighbours.

    What is not in the ``snapshot`` is unknown, and an expression that needs it does not match.
    """

    identity: NodeIdentity
    snapshot: Facts = NOTHING_KNOWN


Reader = Callable[[FaultEvent, NodeFacts], Any]
"""Reads one member; None means that it is not there."""

_COMPONENT = ("type", "index", "uuid", "pci", "serial", "link")
_JOB = ("id", "orchestrator", "rank", "step", "epoch", "checkpoint")
_IDENTITY = ("cluster", "name", "instance_id", "instance_type", "availability_zone", "boot_id", "driver_version")

WORDS: Mapping[str, frozenset[str]] = {
    "event.kind": frozenset(Kind),
    "event.severity": frozenset(Severity),
    "event.persistence": frozenset(Persistence),
    "event.source": frozenset(Source),
    "event.component.type": frozenset(ComponentType),
    "job.orchestrator": frozenset(Orchestrator),
    "node.gpu_architecture": frozenset(ARCHITECTURES.values()),
}
"""Members that hold one word of a closed list."""

_NUMBERS = ("event.count", "event.component.index", "event.component.link", "job.rank", "job.step", "job.epoch")
NUMBERS = frozenset({*_NUMBERS, *(f"event.attributes.{name}" for name in NUMERIC), *registry.NUMBERS})
"""Members that hold a number: comparing one with text never matches."""

FLAGS = registry.FLAGS
"""Members that are true or false: comparing one with anything else never matches."""


def _word(value: object) -> object:
    return value.value if isinstance(value, StrEnum) else value


def _of_component(name: str) -> Reader:
    return lambda event, _node: event.component and _word(getattr(event.component, name))


def _of_job(name: str) -> Reader:
    return lambda event, _node: event.job and _word(getattr(event.job, name))


def _of_node(name: str) -> Reader:
    return lambda _event, node: getattr(node.identity, name) or None


def _of_attributes(name: str) -> Reader:
    return lambda event, _node: event.attributes.get(name)


def _of_fact(member: str) -> Reader:
    return lambda event, node: node.snapshot.read(member, event, node.identity)


def _of_age(documents: Collection[str]) -> Reader:
    return lambda event, node: node.snapshot.age(documents, event, node.identity)


MEMBERS: Mapping[str, Reader] = {
    "event.kind": lambda event, _node: event.kind.value,
    "event.severity": lambda event, _node: event.severity.value,
    "event.persistence": lambda event, _node: event.persistence.value,
    "event.source": lambda event, _node: event.source.value,
    "event.count": lambda event, _node: event.count,
    "event.message": lambda event, _node: event.message,
    **{f"event.component.{name}": _of_component(name) for name in _COMPONENT},
    **{f"job.{name}": _of_job(name) for name in _JOB},
    **{f"node.{name}": _of_node(name) for name in _IDENTITY},
    "node.network_path": lambda _event, node: list(node.identity.network_path) or None,
    "node.gpu_architecture": lambda _event, node: architecture_of(node.identity.instance_type),
    **{member: _of_fact(member) for member in registry.FACTS},
}

LISTS = frozenset({"node.network_path"})  # every other member is a scalar
ATTRIBUTE_ROOT = "event.attributes."
ROOTS = tuple(sorted({"event", "job", "node", *registry.ROOTS}))


def reader_of(path: str, beside: Collection[str] = ()) -> Reader:
    """Return how *path*, a member the checker let through, is read; *beside* are all members of its condition."""
    if path == registry.AGE:
        return _of_age(registry.documents_of(beside))
    if path.startswith(ATTRIBUTE_ROOT):
        return _of_attributes(path.removeprefix(ATTRIBUTE_ROOT))
    return MEMBERS[path]


def is_member(path: str) -> bool:
    """Whether *path* names something that can be read."""
    return path in MEMBERS or (path.startswith(ATTRIBUTE_ROOT) and path.count(".") == ATTRIBUTE_ROOT.count("."))

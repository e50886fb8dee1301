"""Takes the names out of what was seen: who it happened to is nobody's business but the cluster's own.

Decides which names there are (what identities, runs, parts and attributes say, and what looks like one) and puts the
same substitute wherever the same name stands. Kinds, numbers, PCI addresses and the words that a policy itself asks for
stay. It must not know policies or files.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from policies.contract.envelope import NodeIdentity
from policies.contract.events import Component, FaultEvent, JobRef, Scalar
from policies.recording.patterns import PATTERNS, PROGRAMS, TECHNICAL, sort_of
from policies.recording.sightings import Sighting
from policies.recording.substitutes import Sort, Substitutes

SHORTEST = 3  # what is shorter is replaced where it stands alone, not in the middle of a line
_LEARNT = frozenset({*Sort} - {Sort.PATH, Sort.PID, Sort.CLUSTER})
_UUID = re.compile(r"(?:[a-z]+-)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", re.IGNORECASE)
_UUID_PREFIX = re.compile(r"(?:GPU|MIG|NVS)-", re.IGNORECASE)
_TAIL = ".,;:"
_GROUP = re.compile(r"\(\?P<([A-Z0-9]+)>")


@dataclass(frozen=True)
class _Name:
    text: str
    sort: Sort


class Mask:
    """Masks what belongs to one incident."""

    def __init__(
        self, sightings: Collection[Sighting], others: Iterable[NodeIdentity] = (), keep: Collection[str] = ()
    ) -> None:
        """Learn the names in *sightings*; *others* are nodes that may be spoken of. What is in *keep* stays."""
        self._keep = frozenset(keep)
        nodes = list({one.node.instance_id: one.node for one in sightings}.values())
        identities = [*nodes, *{each.instance_id: each for each in others}.values()]
        names = [*_of_nodes(identities), *(name for one in sightings for name in _of_event(one.event, self._keep))]
        # The first to tell of a name says what it is: a node that a peer calls a host is a node.
        self._sorts: dict[str, Sort] = {}
        for name in names:
            self._sorts.setdefault(name.text.casefold(), name.sort)
        original = "\n".join(
            [*(one.event.model_dump_json() for one in sightings), *(n.model_dump_json() for n in nodes)]
        )
        self._subs = Substitutes("\n".join([original, *self._sorts]), self._sorts)
        self._aliases: dict[str, str] = {}
        for node in identities:
            self._name_node(node)
        spoken = sorted((name for name in self._sorts if len(name) >= SHORTEST), key=len, reverse=True)
        self._known = _alternatives(spoken)
        self._pattern = _pattern(self._known)

    def node(self, node: NodeIdentity) -> str:
        """Return the name of *node* in an example."""
        return self._aliases[node.instance_id.casefold()]

    def rack(self, name: str) -> str:
        """Return what stands for a rack, or whatever else nodes share."""
        return self._subs.of(Sort.RACK, name) if name else ""

    def job(self, job: JobRef | None) -> JobRef | None:
        """Return *job* under another name; where it stands in its work stays."""
        if job is None:
            return None
        place = self._subs.of(Sort.ADDRESS, job.checkpoint) if job.checkpoint else None
        return job.model_copy(update={"id": self._subs.of(Sort.JOB, job.id), "checkpoint": place})

    def component(self, part: Component | None) -> Component | None:
        """Return *part* with another UUID and serial; its place in the machine stays."""
        if part is None:
            return None
        uuid = self._uuid(part.uuid) if part.uuid else part.uuid
        serial = self._subs.of(Sort.SERIAL, part.serial) if part.serial else part.serial
        return part.model_copy(update={"uuid": uuid, "serial": serial})

    def attribute(self, name: str, value: Scalar) -> Scalar:
        """Return *value* of the attribute *name*."""
        sort = sort_of(name)
        if isinstance(value, bool | float) or (isinstance(value, int) and sort is not Sort.PID):
            return value
        if isinstance(value, int):
            return int(self._subs.of(Sort.PID, str(value)))
        if value.casefold() in self._sorts:
            return self._of_known(value)
        if sort is None or not value or value in self._keep or value == "/":
            return self.text(value)
        if sort is Sort.PROGRAM and PROGRAMS.fullmatch(value):
            return value
        masked = self.text(value) if sort in {Sort.HOST, Sort.NAME, Sort.UUID, Sort.SERIAL, Sort.MAC} else value
        return masked if masked != value else self._subs.of(sort, value)

    def text(self, text: str) -> str:
        """Return *text*, a line of a log say."""
        if text in self._keep and text.casefold() not in self._sorts:
            return text
        masked = self._pattern.sub(self._replace, text)
        # What stood before a name, `user=` say, may be somebody's name too.
        return self._known.sub(lambda found: self._of_known(found[0]), masked) if self._known else masked

    def _name_node(self, node: NodeIdentity) -> None:
        named = self._subs.of(Sort.NODE, node.instance_id)
        self._aliases.setdefault(node.instance_id.casefold(), named)
        # An example's node-a is the instance i-a (policies/examples.py).
        for name in _names_of(node):
            self._aliases.setdefault(name.casefold(), named)

    def _of_known(self, name: str) -> str:
        key = name.casefold()
        sort = self._sorts[key]
        if sort is Sort.INSTANCE and key in self._aliases:
            return f"i-{self._aliases[key].removeprefix('node-')}"
        if key in self._aliases:
            return self._aliases[key]
        return self._uuid(name) if sort is Sort.UUID else self._subs.of(sort, name)

    def _uuid(self, name: str) -> str:
        prefix = found[0] if (found := _UUID_PREFIX.match(name)) else ""
        bare = found[1] if (found := _UUID.fullmatch(name)) else name.removeprefix(prefix)
        return f"{prefix}{self._subs.of(Sort.UUID, bare)}"

    def _replace(self, found: re.Match[str]) -> str:
        """Return what was found with the names in its groups replaced."""
        whole = found[0]
        if found.lastgroup is None:
            return whole
        if whole.casefold() in self._sorts:
            return self._of_known(whole)
        made, at = "", found.start()
        for group in sorted(filter(lambda name: found[name], found.groupdict()), key=found.start):
            sort = Sort[group.rpartition("_")[0]]
            made += found.string[at : found.start(group)] + self._by_looks(sort, found[group])
            at = found.end(group)
        return made + found.string[at : found.end()]

    def _by_looks(self, sort: Sort, text: str) -> str:
        name = text.rstrip(_TAIL)  # of a sentence
        first = name.partition(".")[0] if sort is Sort.HOST else name
        if sort is Sort.MOMENT:
            return "(then)"
        if first.casefold() in self._sorts:
            return self._of_known(first) + text[len(name) :]
        usual = (sort is Sort.PROGRAM and PROGRAMS.fullmatch(name)) or (sort is Sort.NAME and TECHNICAL.fullmatch(name))
        return text if usual or not name else self._subs.of(sort, name) + text[len(name) :]


@cache
def _pattern(known: re.Pattern[str] | None) -> re.Pattern[str]:
    numbered = (_GROUP.sub(rf"(?P<\1_{place}>", each) for place, each in enumerate(PATTERNS))
    first = [f"(?P<KNOWN_0>{known.pattern})"] if known else []
    return re.compile("|".join([*first, *numbered]), re.IGNORECASE)


def _alternatives(names: Iterable[str]) -> re.Pattern[str] | None:
    """Return a pattern of *names*, the longest first; none for no name."""
    any_of = "|".join(re.escape(name) for name in names)
    return re.compile(rf"(?<![^\W_])(?:{any_of})(?![^\W_])", re.IGNORECASE) if any_of else None


def _of_nodes(nodes: Iterable[NodeIdentity]) -> Iterator[_Name]:
    for node in nodes:
        yield _Name(node.instance_id, Sort.INSTANCE)
        yield from (_Name(name, Sort.NODE) for name in _names_of(node))
        yield _Name(node.cluster, Sort.CLUSTER)
        yield from (_Name(name, Sort.RACK) for name in node.network_path if name)
        if node.boot_id:
            yield _Name(node.boot_id, Sort.UUID)


def _names_of(node: NodeIdentity) -> list[str]:
    """Return its name, and the first label where it has a domain behind it."""
    return list(dict.fromkeys([node.name, node.name.partition(".")[0]]))


def _of_event(event: FaultEvent, keep: Collection[str]) -> Iterator[_Name]:
    if event.job is not None:
        yield _Name(event.job.id, Sort.JOB)
        space, _, name = event.job.id.rpartition("/")
        yield from (_Name(text, sort) for text, sort in ((name, Sort.JOB), (space, Sort.NAMESPACE)) if text)
        yield from (_Name(text, Sort.ADDRESS) for text in [event.job.checkpoint] if text)
    if event.component is not None:
        yield from (_Name(text, Sort.UUID) for text in [event.component.uuid] if text)
        yield from (_Name(text, Sort.SERIAL) for text in [event.component.serial] if text)
    for attribute, value in event.attributes.items():
        sort = sort_of(attribute)
        if sort is None or sort not in _LEARNT or not isinstance(value, str) or not value.strip() or value in keep:
            continue
        if not (sort is Sort.PROGRAM and PROGRAMS.fullmatch(value)) and _pattern(None).fullmatch(value) is None:
            yield _Name(value, sort)

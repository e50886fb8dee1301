"""What an example is made of: the incident, the policy, and what was seen, wherever each of them lies.

Decides where each is looked for first: in what a person named, then in the archive, then in the stack. An incident is
in the archive where one is named. It must not make the example.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

from console.archive.whereabouts import last_days
from console.asked_wrongly import AskedWronglyError
from console.incident.finding import find_one
from console.incident.parts import IncidentError
from console.policy.account import Account, as_parts, in_force
from console.policy.files import files_of, read
from functions.ports.archive import ArchiveReader
from functions.ports.policies import Head
from policies.contract.archive_names import INCIDENTS, POLICIES
from policies.contract.envelope import CANARY_NODE, NodeIdentity, ParsedEnvelope, parse_envelope
from policies.contract.errors import BadInputError
from policies.coordination.incident import Incident
from policies.evaluator import Delivery
from policies.loader import load_stored, load_text
from policies.measures import LATENESS_MS
from policies.model import Policy
from policies.moments import later
from policies.recording.choosing import of_the_same, period_of
from policies.recording.noted import noted
from policies.recording.sightings import Sighting, sightings_of
from simulator.archive.period import read_happenings, read_records
from simulator.archive.reading import Told
from simulator.in_force import Revisions
from simulator.recorded import Recorded

_DAY = timedelta(days=1)
_LATE = timedelta(milliseconds=LATENESS_MS)
MOST_NAMED = 5


@dataclass(frozen=True)
class Sources:
    """Where to look. ``archive`` is None without --events; ``account`` connects to the stack once it is asked.

    ``where`` is what a person called the archive. ``told`` is what became of reading the archive.
    """

    archive: ArchiveReader | None
    account: Callable[[], Account]
    days: int
    policies: Path | None = None
    file: Path | None = None
    told: Told = field(default_factory=Told)
    where: str = "the archive"


@dataclass(frozen=True)
class Material:
    """What was found. ``nodes`` are others of the cluster that may be spoken of; ``wrong`` lines could not be read."""

    incident: Incident
    policy: Policy
    seen: Sequence[Sighting]
    nodes: Collection[NodeIdentity] = field(default=())
    wrong: int = 0


def gather(sources: Sources, wanted: str, name: str = "") -> Material:
    """Return what is known of the incident *wanted* for an example of the policy *name* ("": its own).

    RelightError says what is not there.
    """
    incident = _incident(sources, wanted)
    policy = _policy(sources, incident, name)
    if sources.archive is None:
        mine = list(noted(incident, policy.name)) or list(noted(incident))
        return Material(incident, policy, mine, [incident.node])
    nodes: dict[str, NodeIdentity] = {incident.node.instance_id: incident.node}
    since, until = period_of(incident, policy)
    deliveries = _deliveries(sources.archive, since, later(until, _LATE), sources.told, nodes)
    near = (one for one in sightings_of(deliveries) if since <= one.moment <= until)
    seen = of_the_same(incident, policy, near)
    if not seen:
        hint = "Without --events the incident's own notes are taken; `relight archive stats` says what there is."
        raise BadInputError(f"the archive tells of nothing on its nodes from {since:%Y-%m-%d %H:%M:%S} on.", hint=hint)
    return Material(incident, policy, seen, list(nodes.values()), sources.told.wrong)


def _deliveries(
    archive: ArchiveReader, since: datetime, until: datetime, told: Told, nodes: dict[str, NodeIdentity]
) -> Iterator[Delivery]:
    """Yield what arrived with events in it; note who else speaks in *nodes*."""
    for record in read_records(archive, since, until, told):
        try:
            parsed = parse_envelope(record.body)
        except BadInputError:
            continue  # triage rejected it as well
        envelope = parsed.envelope
        node = envelope.node
        if node.name == CANARY_NODE:
            continue
        if record.place and not node.network_path:
            node = node.model_copy(update={"network_path": record.place})
            parsed = ParsedEnvelope(envelope.model_copy(update={"node": node}))
        nodes.setdefault(node.instance_id, node)
        if envelope.events:
            yield Delivery(parsed, record.arrived_at)


def _incident(sources: Sources, wanted: str) -> Incident:
    """Return the incident *wanted*; whoever names an archive means one that is in it."""
    if sources.archive is None:
        return find_one(as_parts(sources.account()), wanted, sources.days)
    found = _archived(sources.archive, sources, wanted) if wanted else []
    if len(found) > 1:
        raise IncidentError(
            f"{len(found)} incidents have ids like {wanted!r}: {_ids(found)}.", hint="Give more of the id."
        )
    if not found:
        there = _archived(sources.archive, sources, "")
        newest = _ids(sorted(there, key=lambda each: each.opened_at, reverse=True))
        hint = f"Its newest are {newest}." if newest else "It tells of no incident in these days."
        text = f"no such incident in the last {sources.days} days of {sources.where}: {wanted!r}."
        raise IncidentError(text, hint=f"{hint} --days looks further back.")
    return found[0]


def _ids(incidents: Sequence[Incident]) -> str:
    return ", ".join(each.id[:12] for each in incidents[:MOST_NAMED])


def _archived(archive: ArchiveReader, sources: Sources, wanted: str) -> list[Incident]:
    """Return the incidents in the last days of the archive whose ids begin with *wanted*, as they ended."""
    since, until = _span(archive, sources.days)
    happenings = read_happenings(archive, INCIDENTS, since, until, sources.told)
    mine = (each for each in happenings if str(each.document.get("id", "")).startswith(wanted))
    return list(Recorded.of(mine).incidents())


def _span(archive: ArchiveReader, days: int | None) -> tuple[datetime, datetime]:
    there = last_days(archive, days)
    if not there:
        raise BadInputError("the archive is empty.", hint="Name the folder that holds events/, or s3://bucket/prefix.")
    first, last = (datetime.combine(day, time.min, UTC) for day in (there[0], there[-1]))
    return first, later(last, _DAY)


def _policy(sources: Sources, incident: Incident, name: str) -> Policy:
    if sources.file:
        if sources.file.is_dir():
            raise AskedWronglyError(f"{sources.file} is a folder.", hint="Name the policy's own file in it.")
        (mine,) = _in_files(files_of([sources.file]))
        if name not in {"", mine.name}:
            raise BadInputError(f"{sources.file} is {mine.name}, not {name}.", hint="Name its own file with --write.")
        return mine
    wanted = name or incident.policy.name
    known = _in_files(files_of([sources.policies])) if sources.policies else _in_force(sources)
    found = next((each for each in known if each.name == wanted), None)
    if found is None:
        hint = "Name a folder that has it with --policies, or the policy with --policy."
        raise BadInputError(f"there is no policy {wanted!r}.", hint=hint)
    return found


def _in_files(files: Sequence[Path]) -> list[Policy]:
    found = []
    for written in read(files):
        loaded = load_text(written.text, try_examples=False)
        if not isinstance(loaded, Policy):
            raise BadInputError(f"{written.name}: {loaded[0]}", hint="`relight policy lint` says more.")
        found.append(loaded)
    if not found:
        raise BadInputError("there is no policy to try it with.", hint="Name its file, or a folder of policies.")
    return found


def _in_force(sources: Sources) -> list[Policy]:
    if sources.archive is not None:
        since, until = _span(sources.archive, None)
        heads = Revisions.of(read_happenings(sources.archive, POLICIES, since, until, sources.told)).newest()
        if heads:
            return [policy for policy in map(_of_head, heads) if policy]
    return [each.policy for each in in_force(sources.account().heads)]


def _of_head(head: Head) -> Policy | None:
    loaded = load_stored(head.document)
    return loaded if isinstance(loaded, Policy) else None

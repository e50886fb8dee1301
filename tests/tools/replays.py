"""Small archives for tests of replays: a few faulty nodes of one cluster over some hours, as their records arrived."""

import random
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from functions.adapters.archive_folder import FolderArchive
from functions.ports.acts import ActRecord
from functions.ports.policies import Head
from functions.twins.archive import MemoryArchive
from policies.contract.archive import ArchivedRecord, Happening
from policies.contract.archive_names import INCIDENTS, POLICIES
from policies.contract.decisions import RungReport
from policies.contract.envelope import Envelope
from policies.contract.events import JobRef
from policies.contract.rungs import Rung, RungStatus
from policies.contract.vocabulary import Orchestrator
from policies.coordination.incident import Incident
from policies.loader import load_document
from policies.model import Policy
from simulator.deeds import Deed, deed_of
from simulator.in_force import Revisions
from simulator.recorded import Recorded
from simulator.replay import Question, Replay
from tests.tools.archives import write, write_happenings
from tests.tools.envelopes import NOW, envelope, event, node

RUN = JobRef(id="train/llm", orchestrator=Orchestrator.EKS)


def record(told: Envelope, seconds: float, number: int) -> ArchivedRecord:
    """Return *told* as the lane took it so many *seconds* after it was NOW."""
    return ArchivedRecord(NOW + timedelta(seconds=seconds), "faults", f"{number:06d}", told.to_json().encode())


def history(nodes: int = 12, rounds: int = 6, seed: int = 7) -> list[ArchivedRecord]:
    """Return the records of some faulty and some quiet *nodes*, each heard once a round of twenty minutes."""
    chance = random.Random(seed)
    told: list[ArchivedRecord] = []
    for turn in range(rounds):
        for number in range(nodes):
            seconds = turn * 1200 + number * 61.0 + chance.random() * 20
            xids = (79,) if number % 4 == 0 else (94, 94) if number % 4 == 1 else (13,) if number % 4 == 2 else ()
            events = [
                event(turn * 4 + at, seconds - 1 + at * 0.1, xid=xid, job=RUN if number % 2 else None)
                for at, xid in enumerate(xids)
            ]
            first = events[0].seq if events else turn * 4
            made = envelope(*events, sent=seconds, identity=node(f"i-{number}"), spool=f"s{number}", first_seq=first)
            told.append(record(made, seconds + 0.05, len(told)))
    return sorted(told)


def head(document: Mapping[str, Any], revisions: Revisions | None = None) -> Head:
    """Return the head that *document* would have."""
    loaded = load_document(document)
    assert isinstance(loaded, Policy), [str(problem) for problem in loaded]
    return (revisions or Revisions()).head_of(document, loaded.mode)


def revision(made: Head, at: datetime, number: int | None = None) -> list[Happening]:
    """Return what the archive holds of *made*, which came into force at *at*."""
    which = number or made.revision
    key = f"{made.name}:{which:08d}"
    brief = {"name": made.name, "revision": which, "hash": made.hash, "mode": made.mode.value}
    return [Happening(at, "policy", key, {**brief, "document": made.document}), Happening(at, "in_force", key, brief)]


def documents(mode: str = "active") -> list[dict[str, Any]]:
    """Return two policies that act on what `history` tells."""
    replace: dict[str, Any] = {
        "name": "fell-off-the-bus",
        "mode": mode,
        "why": "It is gone until the instance is.",
        "when": 'event.kind == "gpu.xid" && event.attributes.xid == 79',
        "evidence": "latched",
        "do": ["isolate", "replace_node", "resume_job"],
        "deadline": "1h",
    }
    restart = {
        **replace,
        "name": "contained",
        "when": 'event.kind == "gpu.xid" && event.attributes.xid == 94',
        "evidence": "transient",
        "count": {"at_least": 2, "within": "1h"},
        "do": ["isolate", "reset_gpu", "resume_job"],
    }
    return [replace, restart]


def replayed(records: Iterable[ArchivedRecord], question: Question) -> list[Deed]:
    """Return what comes of *records*, by time."""
    replay = Replay(question)
    replay.run(records)
    return sorted(map(deed_of, replay.finish()), key=lambda deed: (deed.opened_at, deed.incident))


def incidents(records: Iterable[ArchivedRecord], question: Question) -> list[Incident]:
    """Return the incidents themselves."""
    replay = Replay(question)
    replay.run(records)
    return list(replay.finish())


def shelved(
    records: Sequence[ArchivedRecord], happenings: Mapping[str, Sequence[Happening]] | None = None, pieces: int = 3
) -> MemoryArchive:
    """Return an archive of *records*, written in so many interleaved batches, and of *happenings* by family."""
    archive = MemoryArchive()
    for at in range(pieces):
        write(archive, records[at::pieces], f"faults-{at}")
    for family, told in (happenings or {}).items():
        write_happenings(archive, told, family)
    return archive


def put_history(folder: Path, happened: Sequence[Happening], past: Iterable[Incident]) -> Path:
    """Write an archive of `history` into *folder*: *happened* to the policies, and *past* is what came of it."""
    told = [
        Happening(each.updated_at, "incident", f"{each.id}:{each.version}", each.model_dump(mode="json"))
        for each in past
    ]
    target = FolderArchive(folder)
    for key, body in shelved(history(), {POLICIES: happened, INCIDENTS: told}).objects.items():
        target.put(key, body)
    return folder


def kept(incident: Incident) -> Happening:
    """Return what the archive holds of *incident* as it stood last."""
    key = f"{incident.id}:{incident.version:08d}"
    return Happening(incident.updated_at, "incident", key, incident.model_dump(mode="json"))


def acts_of(incident: Incident, seconds: float, fails: Rung | None = None) -> list[Happening]:
    """Return what the archive would hold of the rungs of *incident*, had each taken so long, and one of them failed."""
    told, moment = [], next((each.at for each in incident.timeline if each.stage == "settled"), incident.opened_at)
    for rung in incident.done:
        begun, moment = moment, moment + timedelta(seconds=seconds)
        status = RungStatus.FAILED if rung is fails else RungStatus.DONE
        report = RungReport(rung=rung, status=status, at=moment, outcome={"told": f"of {rung}"}, reason="no reason")
        act = ActRecord(
            incident=incident.id,
            rung=rung,
            attempt=1,
            turn=0,
            fence=1,
            intended_at=begun,
            report=report,
            updated_at=moment,
        )
        told.append(Happening(moment, "act", f"{incident.id}:{rung}", act.model_dump(mode="json")))
        if rung is fails:
            break
    return told


def lived(those: Iterable[Head], fails: Rung | None = None) -> tuple[list[Happening], list[Happening]]:
    """Return what the archive of `history` holds of policies and of incidents, had *those* been in force.

    Each rung took its time, an odd one, and all that came to the one that *fails* failed.
    """
    happened = [told for each in those for told in revision(each, NOW - timedelta(hours=1))]
    usual = incidents(history(), Question(Revisions.of(happened)))
    acts = [told for each in usual for told in acts_of(each, 37.0, fails)]
    past = incidents(history(), Question(Revisions.of(happened), Recorded.of([*map(kept, usual), *acts])))
    return happened, [*map(kept, past), *acts]

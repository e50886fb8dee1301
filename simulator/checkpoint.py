"""A replay between two days, on disk: a long one goes on where it was stopped.

Decides the form: a gzip of JSON lines, written beside and put in place at once, so that there is always a whole one.
Its first line says the format and the question; another question is refused, since its answer would be a mixture.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from functions.ports.facts import FactKey
from functions.ports.triage import NodeKey
from policies.contract.decisions import AskMessage
from policies.contract.errors import BadInputError
from policies.contract.times import format_time, parse_time
from policies.coordination.switches import SelfShadow
from simulator.agenda import Due
from simulator.replay import Replay
from simulator.runs import Run

FORMAT = 6
KEPT = "replay.jsonl.gz"
Line = list[Any]


def save(replay: Replay, folder: Path, question: str, **more: object) -> None:
    """Keep *replay*, which asks *question*, in *folder*; *more* comes back from `load`. OSError when it cannot."""
    folder.mkdir(parents=True, exist_ok=True)
    beside = folder / f"{KEPT}.new"
    with gzip.open(beside, "wt", encoding="utf-8", compresslevel=1) as file:
        head = {"format": FORMAT, "question": question, "clock": _time(replay.clock), "more": more}
        file.write(json.dumps(head) + "\n")
        for line in _lines(replay):
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
        file.write('["end"]\n')
    beside.replace(folder / KEPT)


def is_kept(folder: Path) -> bool:
    """Whether anything is kept in *folder*."""
    return (folder / KEPT).is_file()


def load(replay: Replay, folder: Path, question: str) -> dict[str, Any] | None:
    """Bring *replay*, which is fresh, to where it was; return what was kept with it, None when nothing was.

    BadInputError when it is of another question or another format, or cut off.
    """
    path = folder / KEPT
    if not is_kept(folder):
        return None
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            return _read(replay, file, question, path)
    except (OSError, EOFError, ValueError, KeyError, TypeError, IndexError) as error:
        raise BadInputError(f"{path} cannot be read ({error}).", hint="Remove it, and begin from the start.") from None


def _read(replay: Replay, lines: Iterator[str], question: str, path: Path) -> dict[str, Any]:
    head = json.loads(next(lines))
    if head["format"] != FORMAT or head["question"] != question:
        hint = "Name another folder, or remove it."
        raise BadInputError(f"{path} is of another back-test, or of another version.", hint=hint)
    last: Line = []
    for text in lines:
        last = json.loads(text)
        _take(replay, *last)
    if last != ["end"]:
        raise BadInputError(f"{path} is cut off.", hint="Remove it, and begin from the start.")
    replay.clock = parse_time(head["clock"]) if head["clock"] else None
    if replay.clock:
        replay.catch_up(replay.clock)
    more: dict[str, Any] = head["more"]
    return more


def _lines(replay: Replay) -> Iterator[Line]:
    nodes = replay.nodes
    yield ["counts", dict(nodes.counts)]
    yield ["tallies", replay.rehearsal.assumed, replay.coordination.undecided, replay.agenda.number]
    yield from (["remarks", about, dict(told)] for about, told in replay.telemetry.told.items())
    yield from (["node", *key, text] for key, text in nodes.states.texts())
    yield from (["touched", *key, format_time(at)] for key, at in nodes.touched.items())
    yield from (["rack", *key, rack] for key, rack in nodes.racks.items())
    for cluster, heard in nodes.heard.items():
        yield from (["heard", cluster, instance, format_time(at)] for instance, at in heard.items())
    yield from (["run", *run, sorted(instances)] for run, instances in nodes.runs.items())
    yield from (["most", cluster, count] for cluster, count in nodes.most.items())
    yield from (["fact", *key, format_time(at), text] for key, (at, text) in replay.facts.kept.items())
    yield from (["document", kind, *key, text] for kind, key, text in replay.store.documents())
    yield from (["due", format_time(due.at), due.number, due.ask.to_json()] for due in replay.agenda)
    yield from (["started", name] for name in sorted(replay.rehearsal.started))
    yield from (["ended", name] for name in sorted(replay.rehearsal.ended))
    yield from (["follows", *each] for each in sorted(replay.rehearsal.followers.items()))
    yield from (["shadow", one.to_json()] for one in replay.in_force.switches.shadows.values())


def _take(replay: Replay, kind: str, *parts: Any) -> None:  # noqa: ANN401, C901, PLR0912 - a line's own; a case a kind
    nodes = replay.nodes
    match kind, parts:
        case "counts", [counts]:
            nodes.counts = Counter(counts)
        case "tallies", [assumed, undecided, number]:
            replay.rehearsal.assumed, replay.coordination.undecided = assumed, undecided
            replay.agenda.number = number
        case "remarks", [about, told]:
            replay.telemetry.told[about] = Counter(told)
        case "node", [cluster, instance, text]:
            nodes.states.keep(NodeKey(cluster, instance), text)
        case "touched", [cluster, instance, at]:
            nodes.touched[NodeKey(cluster, instance)] = parse_time(at)
        case "rack", [cluster, instance, rack]:
            nodes.racks[NodeKey(cluster, instance)] = rack
        case "heard", [cluster, instance, at]:
            nodes.heard.setdefault(cluster, {})[instance] = parse_time(at)
        case "run", [cluster, job, instances]:
            nodes.runs[Run(cluster, job)] = set(instances)
        case "most", [cluster, count]:
            nodes.most[cluster] = count
        case "fact", [cluster, document, subject, at, text]:
            replay.facts.kept[FactKey(cluster, document, subject)] = (parse_time(at), text)
        case "document", [name, cluster, key, text]:
            replay.store.restore(name, (cluster, key), text)
        case "due", [at, number, ask]:
            replay.agenda.restore(Due(parse_time(at), number, AskMessage.model_validate_json(ask)))
        case "started", [name]:
            replay.rehearsal.started.add(name)
        case "ended", [name]:
            replay.rehearsal.ended.add(name)
        case "follows", [recorded, incident]:
            replay.rehearsal.followers[recorded] = incident
        case "shadow", [text]:
            shadow = SelfShadow.model_validate_json(text)
            replay.in_force.switches.shadows[shadow.policy] = shadow


def _time(moment: datetime | None) -> str:
    return format_time(moment) if moment else ""

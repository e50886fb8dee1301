"""Archives of three clusters for tests of replays in parts: what may go wrong between them is in them.

The same instance ids and the same run in all clusters, arrivals on full minutes and at the same moments, heartbeats
with and without jobs, canaries, records that are none of ours, and envelopes that say whose they are in odd ways.
"""

import base64
import gzip
import json
import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from functions.ports.policies import Head
from functions.twins.archive import MemoryArchive
from policies.contract.archive import ArchivedRecord, Happening
from policies.contract.archive_names import INCIDENTS, POLICIES
from policies.contract.envelope import CANARY_NODE, Envelope
from policies.contract.progress import JobProgress
from tests.tools.envelopes import NOW, at, envelope, event, node
from tests.tools.replays import RUN, documents, head, revision, shelved

CLUSTERS = ("a", "b.2", "c-3")
XIDS = ((79,), (94, 94), (13,), (), (), (48, 94))


def odd_bodies(told: Envelope, chance: random.Random) -> bytes:
    """Return *told* as another writer might put it, or a damaged one."""
    plain = told.to_json()
    fields: dict[str, Any] = json.loads(plain)
    other = {**fields["node"], "cluster": chance.choice(CLUSTERS)}
    ways = (
        plain,
        json.dumps(fields, indent=1),
        json.dumps(dict(reversed(fields.items()))),
        f'{plain[:-1]},"node":{json.dumps(other)}}}',
        plain.replace('"name":', f'"cluster":"{chance.choice(CLUSTERS)}","name":', 1),
        f'{plain[:-1]},"\\u006eode":{json.dumps(other)}}}',
        plain.replace('"name":', f'"cl\\u0075ster":"{chance.choice(CLUSTERS)}","name":', 1),
        plain.replace('"events":[', '"events":[{"seq":7,"kind":"none of ours","node":"\\u006e"},', 1),
        plain.replace('"schema_version":1', '"schema_version":2', 1),
        plain.replace(f'"cluster":"{told.node.cluster}"', '"cluster":"no cluster"', 1),
        plain[:-2],
        '"no object"',
        "\ufeff" + plain,
    )
    return chance.choice(ways).encode()


def records(seed: int, days: int = 1, rounds: int = 5) -> list[ArchivedRecord]:
    """Return what five nodes of each cluster told in so many *rounds* of twenty minutes on each of some *days*."""
    chance = random.Random(seed)
    found: list[ArchivedRecord] = []
    for turn in range(days * rounds):
        begin = (turn // rounds) * 86_400 + (turn % rounds) * 1200
        for cluster in CLUSTERS:
            for number in range(5):
                seconds = begin + chance.choice((60.0 * chance.randrange(20), chance.random() * 1200))
                found.append(_record(cluster, number, turn, seconds, chance, len(found)))
            if chance.random() < 0.5:
                told = envelope(sent=begin, identity=node("i-0", cluster).model_copy(update={"name": CANARY_NODE}))
                found.append(_taken(told.to_json().encode(), begin + 60.0, len(found)))
    return sorted(found)


def _record(cluster: str, number: int, turn: int, seconds: float, chance: random.Random, place: int) -> ArchivedRecord:
    xids = chance.choice(XIDS) if number < 3 else ()
    job = RUN if number % 2 else None
    events = [event(turn * 4 + each, seconds - 1 + each * 0.1, xid=xid, job=job) for each, xid in enumerate(xids)]
    first = events[0].seq if events else turn * 4
    who = node(f"i-{number}", cluster).model_copy(update={"network_path": ("spine", f"rack-{number % 2}")})
    told = envelope(*events, sent=seconds, identity=who, spool=f"s{number}", first_seq=first)
    if number == 3:
        progress = JobProgress(
            id=RUN.id, world_size=8 + turn % 3, alive=chance.random() < 0.8, saved_step=turn, saved_ago=60.0
        )
        told = told.model_copy(update={"jobs": (progress,)})
    body = odd_bodies(told, chance) if chance.random() < 0.3 else told.to_json().encode()
    return _taken(body, seconds, place)


def _taken(body: bytes, seconds: float, place: int) -> ArchivedRecord:
    return ArchivedRecord(at(seconds), "faults", f"{place:06d}", body)


def archive(told: Sequence[ArchivedRecord], seed: int, policies: Sequence[Happening] = ()) -> MemoryArchive:
    """Return an archive of *told* in which somebody's hand damaged lines and moved others."""
    chance = random.Random(seed)
    made = shelved(told, {POLICIES: policies, INCIDENTS: ()} if policies else None)
    for key, body in [*made.objects.items()]:
        if not key.startswith("events"):
            continue
        lines = gzip.decompress(body).splitlines(keepends=True)
        if chance.random() < 0.4:
            lines.insert(
                chance.randrange(len(lines) + 1),
                chance.choice((b"{\n", b'{"v":9}\n', b"\xff\n", _raw(chance, lines[0]))),
            )
        if chance.random() < 0.3:
            chance.shuffle(lines)
        if chance.random() < 0.3:
            lines.append(chance.choice(lines))
        made.objects[key] = gzip.compress(b"".join(lines))
    return made


def _raw(chance: random.Random, beside: bytes) -> bytes:
    body = envelope(event(), identity=node("i-raw", chance.choice(CLUSTERS))).to_json().encode()
    line = {"v": 1, "lane": "overflow", "arrived_at": json.loads(beside)["arrived_at"], "id": "raw"}
    return json.dumps({**line, "raw": base64.b64encode(body).decode()}).encode() + b"\n"


def heads(**changes: Any) -> list[Head]:  # noqa: ANN401 - fields of documents
    """Return policies that ask after all that is kept of a cluster."""
    replace, restart = documents()
    asking = {
        **replace,
        "limits": {"replacements": {"percent": 40, "within": "1h", "per": "cluster"}},
        "unless": "neighbours.same_kind_rack >= 2 || node.lemon_score > 90",
        "acts": {"at_most": 40, "within": "1h"},
        **changes,
    }
    of_jobs = {
        **restart,
        "name": "of-jobs",
        "when": 'event.kind == "gpu.xid" && event.attributes.xid == 13 && job.alive',
        "count": {"at_least": 2, "within": "1h", "per": "cluster"},
        "do": ["page_operator"],
    }
    return [head(each) for each in (asking, restart, of_jobs)]


def in_force(made: Sequence[Head]) -> list[Happening]:
    """Return that *made* came into force an hour before, and later one that the archive does not have."""
    told = [each for one in made for each in revision(one, NOW - timedelta(hours=1))]
    gone = {"name": "gone", "revision": 3, "hash": "x", "mode": "active"}
    return [*told, Happening(NOW + timedelta(minutes=10), "in_force", "gone:00000003", gone)]

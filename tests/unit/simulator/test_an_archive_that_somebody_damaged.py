"""Whatever somebody's hand made of items that the archive then kept, the past can be told: the rest of it counts."""

import json
import random
from datetime import timedelta
from typing import Any

import pytest

from policies.contract.archive import Happening
from policies.contract.archive_names import INCIDENTS, POLICIES
from simulator.backtest import Asked, Report, backtest, read_past
from simulator.deeds import Difference
from simulator.in_force import Revisions
from simulator.replay import Question
from tests.tools.envelopes import NOW
from tests.tools.replays import documents, head, history, incidents, revision, shelved

ODD: tuple[Any, ...] = (None, 0, -1, "x", [], {}, True, 1e308, 2**70, "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z")
RECORDS = history(nodes=4, rounds=2)
HEADS = [head(each) for each in documents()]
SHADOW = {"policy": "contained", "cluster": "c", "incident": "i", "since": "2026-03-01T10:00:00Z", "why": "w"}
SWITCH = {"mode": "active", "reason": "over", "edited_by": "ann"}
TOLD = [
    *(told for each in HEADS for told in revision(each, NOW - timedelta(hours=1))),
    Happening(NOW, "shadow", "#shadow#contained:00000001", {**SHADOW, "lifted_at": "2026-03-01T10:00:01Z"}),
    Happening(NOW, "switch", "#everything:1", SWITCH),
]
PAST = incidents(RECORDS, Question(Revisions.of(TOLD)))
RECORDED = [
    Happening(each.updated_at, "incident", f"{each.id}:{each.version:08d}", json.loads(each.to_json())) for each in PAST
]


def damaged(told: Happening, chance: random.Random) -> Happening:
    document = json.loads(json.dumps(told.document))
    for _ in range(chance.randint(1, 3)):
        name = chance.choice([*document, "name"])
        document.pop(name, None)
        if chance.random() < 0.7:
            document[name] = chance.choice(ODD)
    return told._replace(id=f"{told.id}-damaged", document=document)


def asked(policies: list[Happening], told: list[Happening], **more: Any) -> Report:  # noqa: ANN401 - as `Asked` takes them
    question = Asked(shelved(RECORDS, {POLICIES: policies, INCIDENTS: told}), "an archive", **more)
    return backtest(question, read_past(question))


@pytest.mark.parametrize("seed", range(40))
def test_no_line_of_a_table_stops_a_back_test(seed: int) -> None:
    chance = random.Random(seed)
    policies = [*TOLD, *(damaged(chance.choice(TOLD), chance) for _ in range(2))]
    told = [*(damaged(chance.choice(RECORDED), chance) for _ in range(2)), *RECORDED]
    chance.shuffle(policies)
    report = asked(
        policies, told, against=chance.choice(["archive", "current"]), candidate=chance.choice([None, HEADS])
    )
    assert report.matters


def test_a_revision_that_was_changed_by_hand_does_not_take_the_place_of_the_real_one() -> None:
    real = next(each for each in TOLD if each.what == "policy")
    document = json.loads(real.document["document"])
    forged = {**real.document, "document": json.dumps({**document, "do": ["record"]})}
    report = asked([*TOLD, real._replace(id=f"{real.id}-forged", at=NOW, document=forged)], RECORDED)
    assert {each.difference for each in report.matters} == {Difference.SAME}
    assert report.unreadable == 1


def test_an_incident_that_nobody_can_read_is_counted_once() -> None:
    broken = RECORDED[0]._replace(id="x:00000001", document={**RECORDED[0].document, "id": "x", "opened_at": "never"})
    for against in ("archive", "current"):
        assert asked(TOLD, [*RECORDED, broken], against=against).unreadable == 1


@pytest.mark.parametrize("family", [INCIDENTS, POLICIES])
def test_an_object_of_another_family_that_is_cut_short_is_told(family: str) -> None:
    archive = shelved(RECORDS, {POLICIES: TOLD, INCIDENTS: RECORDED})
    key = next(each for each in archive.objects if each.startswith(family))
    archive.objects[key] = archive.objects[key][:-20]
    question = Asked(archive, "an archive", candidate=HEADS)
    report = backtest(question, read_past(question))
    assert report.told.wrong == len(report.told.bad) > 0
    assert {bad.object for bad in report.told.bad} == {key}

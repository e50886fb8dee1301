"""Versions of incidents, acts and policies land in the archive as they were, and nothing secret with them."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.adapters.acts import _item as act_item
from functions.adapters.coordination_items import incident_item, serialise
from functions.adapters.policy_items import head_item, typed
from functions.archive.archive import Archive
from functions.archive.keeping import Keeper
from functions.place_book import PlaceBook
from functions.ports.acts import ActRecord
from functions.ports.policies import Head
from functions.twins.archive import MemoryArchive
from functions.twins.topology import MemoryTopology
from functions.twins.triage import MemoryTelemetry
from policies.contract.archive import Happening
from policies.contract.archive_names import INCIDENTS, POLICIES
from policies.contract.decisions import Answer, RungReport
from policies.contract.rungs import Rung, RungStatus
from policies.contract.vocabulary import PolicyMode
from policies.coordination.incident import Incident
from policies.coordination.notes import Ask
from policies.coordination.states import IncidentStatus
from simulator.archive.period import read_happenings
from simulator.archive.reading import Told
from tests.tools.envelopes import node
from tests.tools.incidents import START, at, plan

HEAD = Head("gpu-lost", 3, "hash-3", PolicyMode.ACTIVE, '{"name": "gpu-lost", "why": "\u00fc"}')
ANSWER = Answer(verdict="wait", incident="incident-1", attempt=1, step=2)
CHANGED = datetime(2026, 3, 1, 10, 0, 5, tzinfo=UTC)


def incident(version: int = 1) -> Incident:
    return Incident(
        id="incident-1",
        cluster="west",
        generation="i-1#1",
        node=node(),
        policy=plan(),
        status=IncidentStatus.ACTING,
        ask=Ask(attempt=1, step=1, answer=ANSWER, token="secret-token") if version > 1 else None,
        opened_at=START,
        settle_until=START,
        deadline=at(900),
        updated_at=at(version),
        version=version,
    )


def act(report: RungReport | None = None) -> ActRecord:
    return ActRecord(
        incident="incident-1",
        rung=Rung.ISOLATE,
        attempt=1,
        turn=0,
        fence=7,
        intended_at=at(3),
        report=report,
        updated_at=at(4) if report else None,
    )


def change(new: Any, old: Any = None, number: int = 1) -> dict[str, Any]:  # noqa: ANN401 - an item
    item = new or old
    keys = {name: item[name] for name in ("pk", "name", "sk") if name in item}
    images = {name: image for name, image in (("NewImage", new), ("OldImage", old)) if image}
    inner = {"Keys": keys, "SequenceNumber": str(number), "ApproximateCreationDateTime": CHANGED.timestamp(), **images}
    return {"eventSource": "aws:dynamodb", "eventName": "MODIFY", "dynamodb": inner}


def kept(*changes: dict[str, Any], family: str) -> tuple[list[Happening], MemoryTelemetry]:
    archive, telemetry = MemoryArchive(), MemoryTelemetry()
    writer = Archive(archive, Keeper(archive, PlaceBook(MemoryTopology())), telemetry, lambda: START)
    writer.handle({"Records": changes})
    before = dict(archive.objects)
    writer.handle({"Records": changes})
    assert archive.objects == before
    assert not any(b"secret" in body for body in archive.objects.values())
    day = timedelta(days=1)
    return list(read_happenings(archive, family, START - day, START + day, Told())), telemetry


def test_each_version_of_an_incident_is_kept_and_its_task_token_is_not() -> None:
    told, _ = kept(*(change(incident_item(incident(version))) for version in (1, 2)), family=INCIDENTS)
    assert [(one.what, one.id, one.at) for one in told] == [
        ("incident", "incident-1:00000001", at(1)),
        ("incident", "incident-1:00000002", at(2)),
    ]
    assert Incident.model_validate(told[0].document) == incident(1)
    assert "secret-token" not in json.dumps(told[1].document)


def test_an_act_is_kept_as_intended_and_as_reported() -> None:
    done = act(RungReport(rung=Rung.ISOLATE, status=RungStatus.DONE, at=at(4)))
    told, _ = kept(change(act_item(act())), change(act_item(done)), family=INCIDENTS)
    assert [(one.what, one.at, ActRecord.model_validate(one.document)) for one in told] == [
        ("act", at(3), act()),
        ("act", at(4), done),
    ]


def test_lines_of_the_timeline_claims_and_what_expires_are_no_news() -> None:
    line = {"pk": {"S": "INCIDENT#1"}, "sk": {"S": "T#00000001"}}
    claim = {"pk": {"S": "INSTANCE#i-1"}, "sk": {"S": "CLAIM"}}
    told, _ = kept(change(line), change(claim), change(None, incident_item(incident())), family=INCIDENTS)
    assert told == []


def test_a_document_that_cannot_be_read_is_kept_as_its_item_stands() -> None:
    item = {**incident_item(incident(2)), "document": {"S": "{"}}
    [told], _ = kept(change(item), family=INCIDENTS)
    assert (told.at, told.document["document"], told.document["version"]) == (CHANGED, "{", 2)
    assert "task_token" not in told.document


def test_a_revision_is_kept_to_the_letter_and_so_is_when_it_came_into_force() -> None:
    revision = {**head_item(HEAD, "rev#00000003"), "edited_by": "mia", "weight": 0.5}
    listing = {"name": "HEADS", "sk": "head", "p:gpu-lost": {"revision": 3}}
    told, _ = kept(
        change(typed(revision)), change(typed(head_item(HEAD, "head"))), change(typed(listing)), family=POLICIES
    )
    assert [(one.what, one.id) for one in told] == [("in_force", "gpu-lost:00000003"), ("policy", "gpu-lost:00000003")]
    assert told[0].document == {"name": "gpu-lost", "revision": 3, "hash": "hash-3", "mode": "active"}
    assert told[1].document == {key: value for key, value in revision.items() if key != "sk"}


def test_the_switch_of_everything_is_kept_as_a_person_wrote_it_and_the_guards_answer_is_no_news() -> None:
    off = {"name": "#everything", "sk": "live", "mode": "off", "edited_by": "mia"}
    answered = {**off, "verdict": {"status": "accepted"}}
    told, _ = kept(
        change(typed(off), number=1),
        change(typed(answered), typed(off), number=2),
        change(None, typed(answered), number=3),
        family=POLICIES,
    )
    assert [(one.what, one.document) for one in told] == [
        ("switch", {"mode": "off", "edited_by": "mia"}),
        ("switch", {}),
    ]


def test_a_policy_that_put_itself_in_shadow_is_kept_and_a_persons_draft_is_not() -> None:
    shadow = {"name": "#shadow#gpu-lost", "sk": "shadow", "policy": "gpu-lost", "version": 1}
    live = {"name": "gpu-lost", "sk": "live", "why": "draft"}
    [told], _ = kept(change(typed(shadow)), change(typed(live)), family=POLICIES)
    assert (told.what, told.document) == ("shadow", {"policy": "gpu-lost", "version": 1})


@pytest.mark.parametrize("sort", ["META", "ACT#isolate#1"])
def test_junk_costs_only_itself_and_is_counted(sort: str) -> None:
    junk = change({"pk": {"S": "INCIDENT#1"}, "sk": {"S": sort}, "x": {"Q": "?"}})
    told, telemetry = kept(junk, change(incident_item(incident())), family=INCIDENTS)
    assert [one.id for one in told] == ["incident-1:00000001"]
    assert telemetry.counts["ChangesNotArchived"] == 2


def test_values_that_json_does_not_know_are_told_as_text() -> None:
    item: dict[str, Any] = dict(
        typed({"name": "#everything", "sk": "live", "mode": "off", "n": 1.5, "s": {"b", "a"}, "l": [1, {"x": 2}]})
    )
    item["b"] = {"B": "AAE="}
    item["m"] = serialise({"m": {"deep": 1}})["m"]
    [told], _ = kept(change(item), family=POLICIES)
    assert told.document == {
        "mode": "off",
        "n": 1.5,
        "s": ["a", "b"],
        "l": [1, {"x": 2}],
        "b": "AAE=",
        "m": {"deep": 1},
    }

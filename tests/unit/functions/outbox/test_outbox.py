"""From incidents' changes to the bus: what is told, in which words, how often, and what happens on refusal."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.adapters.coordination_items import incident_item
from functions.outbox.outbox import REFUSED, ROUNDS, TOLD, UNREADABLE, announce
from functions.twins.bus import MemoryBus
from functions.twins.triage import MemoryTelemetry
from policies.contract.decisions import PolicyPlan
from policies.contract.envelope import NodeIdentity
from policies.contract.errors import DependencyError
from policies.contract.events import JobRef
from policies.contract.vocabulary import Action, PolicyMode
from policies.coordination.evolve import write_line
from policies.coordination.happenings import Line
from policies.coordination.incident import Incident
from policies.coordination.notes import Alert, Stage
from policies.coordination.states import IncidentStatus

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def incident(**changes: Any) -> Incident:  # noqa: ANN401 - fields of any type
    policy = PolicyPlan(
        name="gpu-fell-off-the-bus",
        revision=3,
        mode=PolicyMode.ACTIVE,
        why='A GPU that "fell off" never comes back.',
        do=(Action.ISOLATE, Action.REPLACE_NODE),
    )
    made = Incident(
        id="f" * 32,
        cluster="training",
        generation="i-1#0",
        node=NodeIdentity(cluster="training", name="ip-10-0-0-1", instance_id="i-1"),
        job=JobRef(id="ns/llm"),
        policy=policy,
        status=IncidentStatus.SETTLING,
        opened_at=NOW,
        settle_until=NOW,
        deadline=NOW + timedelta(minutes=15),
        updated_at=NOW,
    )
    return made.model_copy(update=changes)


def after(before: Incident, *lines: tuple[Stage, str, Alert], **changes: Any) -> Incident:  # noqa: ANN401 - the same
    changed = before.model_copy(update={"version": before.version + 1, **changes})
    for stage, detail, alert in lines:
        changed = write_line(changed, Line(stage, NOW, detail, alert))
    return changed


def opened() -> Incident:
    lines: tuple[tuple[Stage, str, Alert], ...] = (
        ("seen", "gpu.xid", "none"),
        ("queued", "", "none"),
        ("decided", "gpu-fell-off-the-bus, revision 3: isolate → replace_node", "notify"),
    )
    return after(incident(version=0), *lines)


def record(old: Incident | None, new: Incident | None, number: int = 1) -> dict[str, Any]:
    images: dict[str, Any] = {"SequenceNumber": str(number), "ApproximateCreationDateTime": NOW.timestamp()}
    images |= {"OldImage": incident_item(old)} if old else {}
    images |= {"NewImage": incident_item(new)} if new else {}
    return {"eventName": "MODIFY" if old else "INSERT", "dynamodb": images}


class Desk:
    def __init__(self) -> None:
        self.bus, self.telemetry = MemoryBus(), MemoryTelemetry()

    def tell(self, *records: dict[str, Any]) -> tuple[str, ...]:
        return announce(records, bus=self.bus, telemetry=self.telemetry)

    @property
    def types(self) -> list[str]:
        return [announcement.type for announcement in self.bus.told]


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_new_incident_is_told_with_all_that_led_to_it(desk: Desk) -> None:
    assert desk.tell(record(None, opened())) == ()
    [told] = desk.bus.told
    assert (told.id, told.type, told.at) == (f"{'f' * 32}:1", "Incident Opened", NOW)
    detail = told.detail
    assert [stage["stage"] for stage in detail["stages"]] == ["seen", "queued", "decided"]
    assert (detail["stage"], detail["alert"], detail["status"]) == ("decided", "notify", "settling")
    assert (detail["cluster"], detail["node"], detail["job"]) == ("training", "ip-10-0-0-1", "ns/llm")
    assert (detail["policy"], detail["revision"], detail["mode"]) == ("gpu-fell-off-the-bus", 3, "active")
    assert json.loads(json.dumps(detail)) == detail


def test_a_sentence_fits_between_the_quotes_of_a_rules_template(desk: Desk) -> None:
    desk.tell(record(None, opened()))
    text = desk.bus.told[0].detail["text"]
    assert text == (
        "ip-10-0-0-1 (i-1), gpu-fell-off-the-bus: gpu.xid; gpu-fell-off-the-bus, revision 3: isolate → replace_node."
        " A GPU that 'fell off' never comes back."
    )
    assert json.loads(f'"{text}"') == text


def test_a_decision_that_nobody_carries_out_is_recorded(desk: Desk) -> None:
    lines: tuple[Stage, str, Alert] = ("decided", "decided: reset_gpu; carried out by nobody yet", "notify")
    desk.tell(record(None, after(incident(version=0), lines, status=IncidentStatus.CLOSED, outcome="recorded")))
    assert desk.types == ["Incident Recorded"]


@pytest.mark.parametrize(
    ("line", "status", "word"),
    [
        (("isolated", "", "none"), IncidentStatus.ACTING, "Isolated"),
        (("instance_replaced", "i-2", "none"), IncidentStatus.ACTING, "Instance Replaced"),
        (("parked", "overdue", "page"), IncidentStatus.PARKED, "Parked"),
        (("closed", "replaced", "notify"), IncidentStatus.CLOSED, "Closed"),
    ],
)
def test_each_step_has_its_type(desk: Desk, line: tuple[Stage, str, Alert], status: IncidentStatus, word: str) -> None:
    before = opened()
    desk.tell(record(before, after(before, line, status=status)))
    [told] = desk.bus.told
    assert (told.type, told.id, told.detail["alert"]) == (f"Incident {word}", f"{'f' * 32}:2", line[2])


def test_a_page_says_so_first(desk: Desk) -> None:
    before = opened()
    desk.tell(record(before, after(before, ("parked", "budget refused", "page"))))
    assert desk.bus.told[0].detail["text"].startswith("PAGE: ip-10-0-0-1")


def test_only_new_lines_are_told_and_the_last_word_is_the_end(desk: Desk) -> None:
    before = opened()
    done = after(before, ("confirmed", "step 400", "none"), ("closed", "replaced", "notify"), facts={"new": "i-2"})
    desk.tell(record(before, done))
    [told] = desk.bus.told
    assert told.type == "Incident Closed"
    assert [stage["stage"] for stage in told.detail["stages"]] == ["confirmed", "closed"]
    assert told.detail["facts"] == {"new": "i-2"}


def test_a_change_that_nobody_waits_for_is_not_told(desk: Desk) -> None:
    before = opened()
    other = {"dynamodb": {"SequenceNumber": "2", "NewImage": {"pk": {"S": "INCIDENT#f"}, "sk": {"S": "ACT#isolate#1"}}}}
    claim = {"dynamodb": {"SequenceNumber": "3", "NewImage": {"pk": {"S": "INSTANCE#i-1"}, "sk": {"S": "CLAIM"}}}}
    assert desk.tell(record(before, after(before)), other, claim, record(before, None)) == ()
    assert desk.bus.told == []


def test_the_same_record_again_has_the_same_id(desk: Desk) -> None:
    desk.tell(record(None, opened()))
    desk.tell(record(None, opened()))
    assert len({told.id for told in desk.bus.told}) == 1


def steps(count: int) -> list[dict[str, Any]]:
    found, before = [], opened()
    for number in range(1, count + 1):
        now = after(before, ("joined", str(number), "none"))
        found.append(record(before, now, number))
        before = now
    return found


def test_what_is_refused_for_a_moment_is_told_in_the_same_batch(desk: Desk) -> None:
    desk.bus.refusing = {f"{'f' * 32}:3": ROUNDS - 1}
    assert desk.tell(*steps(3)) == ()
    assert sorted(told.detail["version"] for told in desk.bus.told) == [2, 3, 4]


def test_what_is_refused_for_longer_comes_again_from_the_first_such_record(desk: Desk) -> None:
    desk.bus.refusing = {f"{'f' * 32}:3": 99, f"{'f' * 32}:4": 99}
    assert desk.tell(*steps(4)) == ("2",)
    assert [told.detail["version"] for told in desk.bus.told] == [2, 5]
    assert (desk.telemetry.counts[TOLD], desk.telemetry.counts[REFUSED]) == (2, 2)


def test_a_bus_that_does_not_answer_brings_the_batch_back(desk: Desk) -> None:
    desk.bus.failing = True
    with pytest.raises(DependencyError):
        desk.tell(*steps(2))


def test_an_item_that_cannot_be_read_pages_instead_of_vanishing(desk: Desk) -> None:
    broken = record(None, opened())
    broken["dynamodb"]["NewImage"]["document"]["S"] = '{"id": 1}'
    assert desk.tell(broken, *steps(1)) == ()
    assert desk.types == ["Incident Unreadable", "Incident Joined"]
    told = desk.bus.told[0]
    assert (told.id, told.detail["alert"], told.at) == (f"{'f' * 32}:1", "page", NOW)
    assert json.loads(f'"{told.detail["text"]}"') == told.detail["text"]
    assert desk.telemetry.counts[UNREADABLE] == 1

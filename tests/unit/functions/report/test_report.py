"""The weekly report: made of what the tables hold, told once a week, and not at all where nothing is in shadow."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.guard.guard import Guard
from functions.outbox.plain import SENTENCE_CHARACTERS, plain
from functions.report import report as module
from functions.report.report import TOLD, TOO_MANY, notice_of, tell_report
from functions.report.settings import Settings
from functions.report.shadowed import in_shadow
from functions.twins.incident_lists import MemoryIncidentLists
from functions.twins.notices import MemoryNotices
from functions.twins.policies import MemoryPolicies
from functions.twins.switches import MemorySwitches
from functions.twins.triage import MemoryTelemetry
from policies.contract.errors import SettingsError
from policies.contract.vocabulary import Action, PolicyMode
from policies.coordination.snapshot import Change
from policies.coordination.states import IncidentStatus
from policies.coordination.switches import SelfShadow
from policies.shadow.report import Report
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, START, finding, findings, plan
from tests.unit.policies.lint.mistakes import document

REPLACE = (Action.ISOLATE, Action.REPLACE_NODE)


class Desk:
    def __init__(self, *documents: Mapping[str, Any]) -> None:
        self.policies, self.notices, self.telemetry = MemoryPolicies(), MemoryNotices(), MemoryTelemetry()
        self.switches = MemorySwitches(self.policies)
        self.table = DecisionTable()
        for each in documents:
            self.policies.put_live(each)
            Guard(self.policies, MemoryNotices(), MemoryTelemetry(), lambda: START).look_at(each["name"])

    def sees(self, node: str, policy: str, hours: float = 1.0) -> None:
        shy = plan(*REPLACE, name=policy, mode=PolicyMode.SHADOW)
        told = finding(node, name=f"{policy}-{node}", policy=shy, job=None, seen=START + timedelta(hours=hours))
        self.table.take(hours * 3600, findings(told))

    def report(self, now: datetime = START + timedelta(days=3)) -> Report | None:
        return tell_report(
            [CLUSTER],
            incidents=MemoryIncidentLists(self.table.store),
            heads=self.policies,
            switches=self.switches,
            notices=self.notices,
            telemetry=self.telemetry,
            now=now,
        )


def named(name: str, mode: str = "shadow", **more: Any) -> dict[str, Any]:  # noqa: ANN401 - fields of a document
    return document(name=name, mode=mode, examples=[], **more)


def test_people_hear_once_a_week_what_would_have_been_done() -> None:
    desk = Desk(named("shy"), named("bold", "active"))
    desk.sees("i-1", "shy")
    report = desk.report()
    assert report is not None
    assert [one.plan.name for one in report.policies] == ["shy"]
    desk.report(START + timedelta(days=3, hours=1))
    (notice,) = desk.notices.told.values()
    assert (notice.kind, notice.detail["would_have_acted"]) == ("reported", ["shy"])
    assert "1 policy in shadow would have acted, in 1 case." in notice.text
    desk.report(START + timedelta(days=10))
    assert len(desk.notices.told) == 2
    assert desk.telemetry.counts[TOLD] == 3


def test_a_quiet_week_is_told_and_a_deployment_without_shadow_is_not() -> None:
    quiet = Desk(named("shy"))
    assert quiet.report() is not None
    assert "0 policies in shadow would have acted, in 0 cases." in next(iter(quiet.notices.told.values())).text
    for nothing in (Desk(), Desk(named("bold", "active")), Desk(named("teller", do=["alert"], limits={}))):
        assert nothing.report() is None
        assert not nothing.notices.told


def test_who_put_itself_in_shadow_is_in_shadow_and_who_is_off_is_not() -> None:
    desk = Desk(named("bold", "active"), named("gone", "off"), named("shy"))
    told = SelfShadow(policy="bold", cluster=CLUSTER, incident="1", since=START, why="it acted too often")
    desk.switches.put_in_shadow(told)
    assert sorted(in_shadow(desk.policies, desk.switches)) == ["bold", "shy"]


def test_a_head_that_cannot_be_read_stops_no_report() -> None:
    desk = Desk(named("shy"), named("broken"))
    broken = desk.policies.in_force["broken"]
    for text in ("no JSON", "[]", '{"name": 3}'):
        desk.policies.in_force["broken"] = type(broken)(broken.name, 1, "h", PolicyMode.SHADOW, text)
        assert list(in_shadow(desk.policies, desk.switches)) == ["shy"]


def test_the_newest_of_very_many_incidents_are_enough_and_that_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_INCIDENTS", 3)
    desk = Desk(named("shy"))
    for number in range(5):
        desk.sees(f"i-{number}", "shy", hours=1 + number / 100)
    report = desk.report()
    assert report is not None
    assert sorted(case.instance for case in report.policies[0].cases) == ["i-2", "i-3", "i-4"]
    assert desk.telemetry.counts[TOO_MANY] == 1


def test_a_report_that_leaves_nothing_out_is_not_said_to_be_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_INCIDENTS", 3)
    desk = Desk(named("shy"))
    for number in range(3):
        desk.sees(f"i-{number}", "shy")
    incident = desk.table.store.all_incidents()[0]
    still_open = incident.model_copy(update={"status": IncidentStatus.PARKED, "version": incident.version + 1})
    desk.table.store.write(Change(incident, still_open))
    report = desk.report()
    assert report is not None
    assert len(report.policies[0].cases) == 3
    assert not desk.telemetry.counts[TOO_MANY]


def test_a_week_is_that_of_the_calendar() -> None:
    sunday = datetime(2026, 11, 29, 23, tzinfo=UTC)
    desk = Desk(named("shy"))
    first, monday = desk.report(sunday), desk.report(sunday + timedelta(hours=8))
    assert first is not None
    assert monday is not None
    assert notice_of(first).id != notice_of(monday).id
    assert notice_of(first).id == notice_of(desk.report(sunday - timedelta(days=6)) or monday).id


def test_the_longest_sentence_is_not_cut() -> None:
    names = [f"{letter}{'x' * 60}" for letter in "abcdefgh"]
    desk = Desk(*[named(name) for name in names])
    for number, name in enumerate(names):
        desk.sees(f"i-{number}", name)
    desk.report()
    (notice,) = desk.notices.told.values()
    assert plain(notice.text) == " ".join(notice.text.split())
    assert len(notice.text) < SENTENCE_CHARACTERS
    assert notice.text.endswith("relight policy report")


def test_settings_name_what_is_missing() -> None:
    whole = {
        "CLUSTERS": '[{"name": "a", "orchestrator": "eks"}, {"name": "b", "orchestrator": "eks"}]',
        "INCIDENTS_TABLE": "incidents",
        "POLICIES_TABLE": "policies",
    }
    assert Settings.from_environment(whole) == Settings(("a", "b"), "incidents", "policies")
    for name in whole:
        with pytest.raises(SettingsError, match=name):
            Settings.from_environment({key: value for key, value in whole.items() if key != name})

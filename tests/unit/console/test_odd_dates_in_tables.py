"""An incident of any date in a stack's table breaks no command that reads it: it is shown, and the others with it."""

import json
from datetime import UTC, datetime, timedelta
from functools import cache

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from console.incident.parts import Parts
from console.incident.twins import MemoryClosings, MemoryIncidents
from console.main import main
from console.policy.account import Account
from functions.guard.guard import Guard
from functions.twins.facts import MemoryFacts
from functions.twins.notices import MemoryNotices
from functions.twins.policies import MemoryPolicies
from functions.twins.switches import MemorySwitches
from functions.twins.triage import MemoryNodeStates, MemoryTelemetry
from policies.contract.times import format_time
from policies.coordination.incident import Incident
from policies.coordination.memory import MemoryStore
from policies.coordination.snapshot import Change
from policies.moments import FIRST, LAST
from simulator.in_force import Revisions
from simulator.replay import Question
from tests.tools.envelopes import NOW
from tests.tools.odd_dates import redated
from tests.tools.replays import documents, head, history, incidents, revision

SHADOW, ACTIVE = {**documents()[0], "mode": "shadow"}, documents()[1]
MOMENTS = st.lists(st.datetimes(timezones=st.just(UTC)) | st.sampled_from((FIRST, LAST)), min_size=1, max_size=4)
WORDS = (
    *(("incident", "list", "--closed"), ("incident", "list"), ("incident", "show", "ID")),
    *(("policy", "explain", "--incident", "ID"), ("policy", "explain", "--node", "NODE", "--last")),
    *(("policy", "report"), ("policy", "record", "ID"), ("policy", "record", "ID", "--all")),
)


@cache
def past() -> list[Incident]:
    happened = [each for made in (SHADOW, ACTIVE) for each in revision(head(made), NOW - timedelta(hours=1))]
    return incidents(history(), Question(Revisions.of(happened)))


def odd_one(incident: Incident, moments: list[datetime]) -> Incident | None:
    dates = [format_time(each) for each in moments]
    document = {**redated(incident.model_dump(mode="json"), dates), "id": "0dd" + incident.id[3:]}
    try:
        return Incident.model_validate_json(json.dumps(document))
    except ValidationError:
        return None


def stack(known: list[Incident]) -> tuple[Account, Parts]:
    store, policies = MemoryStore(), MemoryPolicies()
    for each in known:
        store.write(Change(None, each))
    for document in (SHADOW, ACTIVE):
        policies.put_live(document)
        Guard(policies, MemoryNotices(), MemoryTelemetry(), lambda: NOW).look_at(document["name"])
    now, reader = NOW + timedelta(days=2), MemoryIncidents(store)
    clusters = [known[0].cluster]
    parts = Parts(clusters, reader, MemoryClosings(), lambda: now, lambda _seconds: None)
    states, facts = MemoryNodeStates(), MemoryFacts()
    return Account(clusters, reader, policies, MemorySwitches(policies), states, store, facts, lambda: now), parts


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(moments=[FIRST], which=0)
@example(moments=[LAST], which=1)
@example(moments=[LAST, FIRST], which=2)
@given(moments=MOMENTS, which=st.integers(0, 8))
def test_every_command_shows_it_or_says_why_not(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    moments: list[datetime],
    which: int,
) -> None:
    odd = odd_one(past()[which], moments)
    assume(odd is not None)
    assert odd is not None
    account, parts = stack([*past(), odd])
    monkeypatch.setattr("console.policy.account.connect", lambda *_: account)
    monkeypatch.setattr("console.record.running.connect", lambda *_: account)
    monkeypatch.setattr("console.incident.wiring.connect", lambda *_: parts)
    for words in WORDS:
        for form in ((), ("--json",)):
            named = [{"ID": odd.id, "NODE": odd.node.instance_id}.get(word, word) for word in words]
            assert main([*named, *form]) in {0, 1}, words
            shown = capsys.readouterr()
            assert shown.out or shown.err
            if form and shown.out:
                json.loads(shown.out)
    assert main(["incident", "show", past()[0].id]) == 0

import importlib
import json
from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest

from functions.acts.executor import Executor, ExecutorSettings
from functions.acts.support import Pace, moment_of, number_of, text_of
from functions.evidence.settings import Settings as EvidenceSettings
from functions.kubernetes.isolate import Isolate
from functions.ports.kubernetes import Node
from functions.twins.acts import MemoryActStore, MemoryLeaseReader
from functions.twins.kubernetes import MemoryCluster
from policies.contract.errors import BadInputError, SettingsError
from policies.contract.rungs import Rung
from policies.coordination.decide import decide
from policies.coordination.memory import MemoryStore
from policies.coordination.snapshot import Snapshot
from tests.tools.act_contexts import CLUSTER as SETTINGS
from tests.tools.act_contexts import START as NOON
from tests.tools.act_contexts import Clock, Drive
from tests.tools.incidents import CLUSTER, RULES, START, finding, findings
from tests.tools.witnesses import around

ENVIRONMENT = {
    "FLEET_TABLE": "fleet",
    "INCIDENTS_TABLE": "incidents",
    "EVIDENCE_BUCKET": "evidence",
    "COMMANDS_TABLE": "commands",
    "INSTANCE_ARNS": "arn:aws:ec2:us-east-1:123456789012:instance/",
    "CLUSTERS": f"[{SETTINGS.to_json()}]",
    "RELIGHT_TIME_SCALE": "0.1",
    "AWS_DEFAULT_REGION": "us-east-1",
}
ACTS = {
    "kubernetes": {Rung.ISOLATE, Rung.SUSPEND_JOB, Rung.VERIFY_NODE, Rung.RELEASE_NODE, Rung.RESUME_JOB},
    "instances": {Rung.FENCE_NODE, Rung.REPLACE_NODE},
    "checkpoints": {Rung.CHOOSE_CHECKPOINT, Rung.CONFIRM_RESUME},
    "sagemaker": {Rung.SUSPEND_JOB, Rung.RESUME_JOB, Rung.CONFIRM_RESUME},
    "evidence": {Rung.COLLECT_EVIDENCE},
    "nodes": {Rung.RESTART_PROCESS, Rung.RESTART_SERVICE, Rung.RESET_GPU},
}


@pytest.mark.parametrize("name", ACTS)
def test_each_executor_is_wired_with_its_acts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in ENVIRONMENT.items():
        monkeypatch.setenv(variable, value)
    module = importlib.import_module(f"functions.{name}.handler")
    module.wired.cache_clear()
    wire = cast("Callable[[], Executor]", module.wired)
    assert set(wire().acts) == ACTS[name]
    module.wired.cache_clear()


def test_a_request_becomes_a_report_that_is_json() -> None:
    documents = MemoryStore()
    decision = decide(Snapshot(CLUSTER), [findings(finding())], START, rules=RULES)
    for change in (change for changes in decision.rounds for change in changes):
        documents.write(change)
    incident = decision.incidents[0].after
    cluster = MemoryCluster(nodes={"n": Node("n", "1", incident.node.instance_id)})
    executor = Executor(
        acts={Rung.ISOLATE: Isolate(connect=cluster.connect, witness=around(lambda: START).witness)},
        incidents=MemoryActStore(documents, CLUSTER),
        leases=MemoryLeaseReader(documents),
        clusters={CLUSTER: SETTINGS.model_copy(update={"name": CLUSTER})},
        clock=lambda: START,
    )
    request = {"cluster": CLUSTER, "incident": incident.id, "attempt": 1, "rung": "isolate", "fence": 1, "polls": 0}
    report = json.loads(json.dumps(executor.run(request)))
    assert (report["status"], report["outcome"]) == ("done", {"isolated": "n"})
    assert executor.run(request) == report
    assert len(cluster.changes) == 1


@pytest.mark.parametrize("event", [{}, {"rung": "isolate"}, {"cluster": "c", "incident": "i", "rung": "dance"}])
def test_an_invocation_that_is_no_request_is_bad_input(event: Mapping[str, Any]) -> None:
    store = MemoryStore()
    executor = Executor({}, MemoryActStore(store, "c"), MemoryLeaseReader(store), {}, lambda: START)
    with pytest.raises(BadInputError, match="no rung request"):
        executor.run(event)


@pytest.mark.parametrize("missing", ["FLEET_TABLE", "INCIDENTS_TABLE", "CLUSTERS"])
def test_a_missing_setting_is_named(missing: str) -> None:
    environ = {name: value for name, value in ENVIRONMENT.items() if name != missing}
    with pytest.raises(SettingsError, match=missing):
        ExecutorSettings.from_environment(environ)


def test_the_evidence_bucket_belongs_to_one_executor_only() -> None:
    assert EvidenceSettings.from_environment(ENVIRONMENT).evidence_bucket == "evidence"
    with pytest.raises(SettingsError, match="EVIDENCE_BUCKET"):
        EvidenceSettings.from_environment({**ENVIRONMENT, "EVIDENCE_BUCKET": ""})


def test_looks_grow_rarer_up_to_a_bound_and_waits_are_left_for_others_to_shorten() -> None:
    assert [Pace().seconds(polls) for polls in (0, 1, 2, 50, 10_000)] == [2.0, 3.0, 4.5, 30.0, 30.0]
    assert Pace(0.1).seconds(0) == 2.0


def test_waiting_past_the_deadline_fails() -> None:
    clock = Clock()
    context = Drive(Isolate(connect=MemoryCluster().connect, witness=around(clock).witness), clock, node="i").context()
    assert Pace().wait(context, "still booting").status == "waiting"
    clock.move(900)
    late = Drive(Isolate(connect=MemoryCluster().connect, witness=around(clock).witness), clock, node="i")
    late.opened_at = NOON
    report = Pace().wait(late.context(), "still booting")
    assert (report.status, report.reason) == (
        "failed",
        "still booting, still so at the deadline 2026-03-01T12:15:00.500000Z",
    )


def test_facts_of_another_type_count_as_missing() -> None:
    facts = {"text": 5, "number": "many", "truth": True, "half": 1.5, "moment": "yesterday", "whole": 20.0}
    assert text_of(facts, "text") == text_of(facts, "none") == ""
    assert [number_of(facts, name) for name in ("number", "truth", "half", "none", "whole")] == [None] * 4 + [20]
    assert moment_of(facts, "moment") is moment_of(facts, "none") is None

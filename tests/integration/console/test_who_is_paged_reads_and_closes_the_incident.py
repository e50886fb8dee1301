"""`relight incident` and `relight policy stop` on the deployed stack."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from functions.adapters.policies import DynamoPolicies
from policies.contract.decisions import Finding
from policies.coordination.incident import incident_id
from tests.integration.console.deployed import ON_CALL, Deployed, Relight
from tests.tools.incidents import POLICY, finding, findings, plan
from tests.unit.policies.lint.mistakes import document

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = ("operations.md", "policies.md")  # the stack is one for all files here: others edit policies on it
Eventually = Callable[[Callable[[], Any]], Any]


def send(deployed: Deployed, found: Finding) -> str:
    """Have coordinate hear of *found*, as triage would; return the id of its incident."""
    message = findings(found)
    deployed.client("sqs").send_message(
        QueueUrl=deployed.outputs["DecisionsQueueUrl"],
        MessageBody=message.to_json(),
        MessageGroupId=message.cluster,
        MessageDeduplicationId=message.deduplication_id,
    )
    return incident_id(found.generation, found.id)


def put_in_force(deployed: Deployed, eventually: Eventually) -> None:
    """Write the policy as an operator does, and wait until the guard took it: a head by hand it would put right."""
    policies = DynamoPolicies(deployed.client("dynamodb"), deployed.outputs["PoliciesTable"])
    if policies.head(POLICY) is None:
        policies.put_live(document(name=POLICY))
        eventually(lambda: policies.head(POLICY))


def fault(node: str, name: str = "") -> Finding:
    policy = plan(approval=True, settle=0)
    return finding(node, name=name, policy=policy, seen=datetime.now(UTC), cluster="training")


def listed(relight: Relight, *words: str) -> Sequence[dict[str, Any]]:
    found: Sequence[dict[str, Any]] = relight.json("incident", "list", *words)[1]["incidents"]
    return found


def test_a_parked_incident_is_found_read_and_closed(
    deployed: Deployed, relight: Relight, eventually: Eventually
) -> None:
    put_in_force(deployed, eventually)
    incident = send(deployed, fault("i-parked"))
    (line,) = eventually(lambda: [each for each in listed(relight) if each["status"] == "parked"])
    assert (line["id"], line["instance"], line["job"]) == (incident, "i-parked", "train/llm")
    assert [each["id"] for each in listed(relight, "--node", "i-parked")] == [incident]
    assert [each["id"] for each in listed(relight, "--job", "train/llm")] == [incident]

    status, shown = relight("incident", "show", incident[:10])
    assert status == 0
    assert "wants a person's approval" in shown
    assert f"{incident}-1" in shown
    status, shown_whole = relight.json("incident", "show", incident)
    assert [entry["stage"] for entry in shown_whole["timeline"]] == ["seen", "queued", "decided", "parked"]

    words = ("incident", "close", incident[:10], "--reason", "the board was changed", "--by", "kim", "--yes")
    status, closed = relight.json(*words)
    assert (status, closed["status"], closed["reason"]) == (0, "closed", "by kim: the board was changed")
    assert closed["outcome"] == "closed_by_person"
    assert listed(relight) == []
    assert [each["id"] for each in listed(relight, "--closed", "--node", "i-parked")] == [incident]
    assert relight(*words)[0] == 0


def test_a_no_is_kept_while_it_holds_and_taken_back(
    deployed: Deployed, relight: Relight, eventually: Eventually
) -> None:
    put_in_force(deployed, eventually)
    denied = send(deployed, fault("i-denied"))
    eventually(lambda: [each for each in listed(relight, "--node", "i-denied") if each["status"] == "parked"])
    words = ("incident", "deny", denied[:10], "--by", "kim", "--yes", "--reason")
    status, closed = relight.json(*words, "a firmware test", "--for", "2h")
    assert (status, closed["outcome"]) == (0, "denied")
    send(deployed, fault("i-denied", "again"))
    of_node = ("--closed", "--node", "i-denied")
    (line,) = eventually(lambda: [each for each in listed(relight, *of_node) if each["outcome"] == "recorded"])
    assert "denied by kim at" in line["reason"]
    assert relight("incident", "deny", line["id"], "--yes", "--reason", "it is over", "--for", "0")[0] == 0
    asking = send(deployed, fault("i-denied", "later"))
    eventually(lambda: [each for each in listed(relight, "--node", "i-denied") if each["status"] == "parked"])
    assert "it was denied before by kim" in relight("incident", "show", asking)[1]
    assert relight("incident", "close", asking, "--reason", "done", "--yes")[0] == 0


def test_a_stop_is_read_before_anything_opens_and_ends_when_it_is_taken_back(
    deployed: Deployed, relight: Relight, eventually: Eventually, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_force(deployed, eventually)
    monkeypatch.setenv("POLICIES_TABLE", deployed.outputs["PoliciesTable"])
    assert relight("policy", "stop", "--reason", "a bad image", "--edited-by", "kim")[0] == 0
    send(deployed, fault("i-stopped"))
    (line,) = eventually(lambda: listed(relight, "--closed", "--node", "i-stopped"))
    assert (line["outcome"], "everything is stopped by kim: a bad image" in line["reason"]) == ("recorded", True)
    assert relight("policy", "start")[0] == 0
    again = send(deployed, fault("i-again"))
    eventually(lambda: [each for each in listed(relight, "--node", "i-again") if each["status"] == "parked"])
    assert relight("incident", "close", again, "--reason", "done", "--yes")[0] == 0


def test_the_rights_in_the_runbook_are_those_that_were_used(deployed: Deployed) -> None:
    used = {call.action for call in deployed.aws.recorded_calls() if call.principal == ON_CALL}
    pages = "\n".join((DOCS / page).read_text() for page in PAGES)
    named = set(re.findall(r"`([a-z0-9]+:[A-Z]\w+)\*?`", pages))
    assert {"dynamodb:Query", "sqs:SendMessage"} <= used
    assert used <= named

"""A person refuses what a policy asks; what the report says then of one in shadow that saw the same fault."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from functions.adapters.policies import DynamoPolicies
from policies.contract.vocabulary import Action, PolicyMode
from tests.integration.console.deployed import Deployed, Relight
from tests.integration.console.test_who_is_paged_reads_and_closes_the_incident import (
    fault,
    listed,
    put_in_force,
    send,
)
from tests.tools.incidents import finding, plan
from tests.unit.policies.lint.mistakes import document

Eventually = Callable[[Callable[[], Any]], Any]
NAME = "timid"


def told_of(relight: Relight) -> tuple[str, list[str]]:
    """Return the advice on the policy in shadow, and how its cases end."""
    (one,) = [each for each in relight.json("policy", "report")[1]["policies"] if each["name"] == NAME]
    return one["advice"], [case["ending"] for case in one["cases"]]


def test_only_a_verdict_says_whether_it_was_real(deployed: Deployed, relight: Relight, eventually: Eventually) -> None:
    put_in_force(deployed, eventually)
    policies = DynamoPolicies(deployed.client("dynamodb"), deployed.outputs["PoliciesTable"])
    policies.put_live(document(name=NAME, mode="shadow", examples=[]))
    eventually(lambda: policies.head(NAME))
    timid = plan(Action.ISOLATE, Action.REPLACE_NODE, name=NAME, mode=PolicyMode.SHADOW)
    seen = finding("i-timid", name="timid", policy=timid, seen=datetime.now(UTC), cluster="training")
    send(deployed, seen)
    eventually(lambda: listed(relight, "--closed", "--node", "i-timid"))
    asked = send(deployed, fault("i-timid", "asked"))
    eventually(lambda: [each for each in listed(relight, "--node", "i-timid") if each["status"] == "parked"])

    assert relight("incident", "deny", asked, "--reason", "a firmware test", "--yes")[0] == 0
    assert told_of(relight) == ("wait", ["denied"])
    assert relight("incident", "verdict", asked, "faulty", "--why", "its board was dead")[0] == 0
    assert told_of(relight) == ("arm", ["faulty"])
    assert relight("incident", "verdict", asked, "healthy", "--why", "it was the test")[0] == 0
    assert told_of(relight) == ("mend", ["healthy"])
    policies.put_live(document(name=NAME, mode="off", examples=[]))
    eventually(lambda: (head := policies.head(NAME)) and head.mode is PolicyMode.OFF)

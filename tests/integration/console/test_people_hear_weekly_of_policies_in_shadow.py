"""The function `report` on the deployed stack: one readable sentence a week reaches the alerts topic."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from functions.adapters.policies import DynamoPolicies
from local.aws.iam import check, roles_of
from local.demo.cluster import STACK
from policies.contract.vocabulary import Action, PolicyMode
from tests.integration.console.deployed import Deployed, Relight
from tests.integration.console.test_who_is_paged_reads_and_closes_the_incident import listed, send
from tests.tools.incidents import finding, plan
from tests.unit.policies.lint.mistakes import document

Eventually = Callable[[Callable[[], Any]], Any]
NAME = "shy"


def reports(deployed: Deployed) -> Sequence[str]:
    """What was mailed of them."""
    return [each for each in alerts(deployed) if "Policies Reported" in each]


def alerts(deployed: Deployed) -> Sequence[str]:
    return [each["Message"] for each in deployed.aws.published(deployed.outputs["AlertsTopicArn"])]


def invoke(deployed: Deployed) -> None:
    answer = deployed.client("lambda").invoke(FunctionName=deployed.outputs["ReportFunction"], Payload=b"{}")
    assert "FunctionError" not in answer, answer["Payload"].read()


def test_once_a_week_however_often_it_runs(deployed: Deployed, relight: Relight, eventually: Eventually) -> None:
    policies = DynamoPolicies(deployed.client("dynamodb"), deployed.outputs["PoliciesTable"])
    policies.put_live(document(name=NAME, mode="shadow", examples=[]))
    eventually(lambda: policies.head(NAME))
    shy = plan(Action.ISOLATE, Action.REPLACE_NODE, name=NAME, mode=PolicyMode.SHADOW)
    send(deployed, finding("i-shy", policy=shy, seen=datetime.now(UTC), cluster="training"))
    eventually(lambda: listed(relight, "--closed", "--node", "i-shy"))

    invoke(deployed)
    (told,) = eventually(lambda: reports(deployed))
    assert "1 policy in shadow would have acted, in 1 case." in told
    assert told.strip('"').endswith("All of it: relight policy report")
    status, document_of_it = relight.json("policy", "report")
    assert (status, [one["name"] for one in document_of_it["policies"]]) == (0, [NAME])

    invoke(deployed)
    # What is told after it has come by when the next alert has: nothing else of the report did.
    policies.put_live(document(name="broken", mode="shadow", when="no expression"))
    eventually(lambda: [each for each in alerts(deployed) if "Policy Rejected" in each])
    assert len(reports(deployed)) == 1

    rules = deployed.client("events").list_rules()["Rules"]
    assert [each["ScheduleExpression"] for each in rules if "Weekly" in each["Name"]] == ["cron(0 7 ? * MON *)"]
    calls = deployed.aws.recorded_calls()
    mine = [call for call in calls if "Report" in call.principal]
    assert {call.action for call in mine} >= {"dynamodb:Query", "dynamodb:PutItem", "dynamodb:BatchGetItem"}
    assert check(mine, roles_of(deployed.aws, STACK)).denied == []

"""The stack with a trail, deployed: an edit in AWS's console gets its name when CloudTrail tells, and only then.

The embedded AWS has no CloudTrail: what it would say comes here as its event, on the way that it would come.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from functions.adapters.policies import DynamoPolicies
from functions.adapters.policy_items import key_of
from local.aws.iam import check, roles_of
from local.demo.cluster import STACK
from policies.contract.vocabulary import PolicyMode
from tests.integration.console.deployed import Deployed, Relight
from tests.tools.editing import DOCUMENT
from tests.tools.trail import detail, session

Eventually = Callable[[Callable[[], Any]], Any]
NAME = "edited-in-aws"


def test_who_edited_in_the_console_is_told_and_stands_in_the_history(
    deployed: Deployed, relight: Relight, eventually: Eventually
) -> None:
    client = deployed.client("dynamodb")
    table_name, topic = deployed.outputs["PoliciesTable"], deployed.outputs["AlertsTopicArn"]
    arn = client.describe_table(TableName=table_name)["Table"]["TableArn"]
    table = DynamoPolicies(client, table_name)
    history = ("policy", "history", NAME, "--table", table_name)

    def told(identity: dict[str, Any], identifier: str, item: str = "live", **more: Any) -> None:  # noqa: ANN401 - an event's
        asked = {"tableName": table_name, "key": {"name": NAME, "sk": item}}
        resources = [{"accountId": "1", "type": "AWS::DynamoDB::Table", "ARN": arn}]
        event = {"eventID": identifier, "requestParameters": asked, "resources": resources, **more}
        deployed.aws.emit_service_event(
            source="aws.dynamodb",
            detail_type="AWS API Call via CloudTrail",
            detail=detail(datetime.now(UTC), NAME, identity, **event),
        )

    table.put_live({**DOCUMENT, "name": NAME})
    eventually(lambda: table.head(NAME))
    assert " unknown" in relight(*history)[1]

    account, guard = arn.split(":")[4], client_role(deployed, "GuardFunction")
    told(session("Guard", guard, account), "ours")
    told(
        session("eve", account=account),
        "other-table",
        resources=[{"type": "AWS::DynamoDB::Table", "ARN": f"{arn}-of-others"}],
    )
    for _again in range(2):
        told(session(account=account), "theirs")
    shown = eventually(lambda: (lines := relight(*history)[1]) and "kim@example.com" in lines and lines)
    assert "kim@example.com (SSO Admin) (CloudTrail)" in shown
    assert "eve" not in shown

    def alerts() -> list[str]:
        return [each["Message"] for each in deployed.aws.published(topic) if "Policy Edited" in each["Message"]]

    assert len(eventually(alerts)) == 1
    assert f"Policy Edited: kim@example.com (SSO Admin) wrote {NAME} in AWS's console at" in alerts()[0]

    assert "calls-dlq" in relight("dlq", "list")[1], "what it cannot read is found where all that failed is"

    report = check(deployed.aws.recorded_calls(), roles_of(deployed.aws, STACK))
    assert [str(denied) for denied in report.denied] == []
    assert report.unknown_conditions == []
    role = client_role(deployed, "CallersFunction")
    assert [str(grant) for grant in report.unused if grant.role == role] == [], "it may do nothing that it does not do"

    client.delete_item(
        TableName=table_name, Key=key_of(NAME, "live")
    )  # others of this folder look at all that is there
    eventually(lambda: (head := table.head(NAME)) and head.mode is PolicyMode.OFF)


def client_role(deployed: Deployed, output: str) -> str:
    """Return the name of the role of the function in this output."""
    function = deployed.client("lambda").get_function_configuration(FunctionName=deployed.outputs[output])
    name: str = function["Role"].rpartition("/")[2]
    return name

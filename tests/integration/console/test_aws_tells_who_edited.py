"""The stack with a trail, deployed: an edit in AWS's console gets its name when CloudTrail tells, and only then.

The embedded AWS has no CloudTrail: what it would say comes here as its event, on the way that it would come.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from functions.adapters.policies import DynamoPolicies
from infra.synth import own_copy
from local.aws.deploy import deploy
from local.aws.iam import check, roles_of
from local.aws.server import EmbeddedAws
from local.demo.cluster import STACK
from tests.integration.console.deployed import ON_CALL, Deployed, Relight
from tests.tools.editing import DOCUMENT
from tests.tools.trail import detail, session
from tests.tools.trail_stack import ASSEMBLY, ROOT, SETTINGS

Eventually = Callable[[Callable[[], Any]], Any]
NAME = DOCUMENT["name"]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    assembly = own_copy(ASSEMBLY, tmp_path_factory.mktemp("app") / "cdk.out", settings=SETTINGS)
    with EmbeddedAws(tmp_path_factory.mktemp("aws"), code_root=Path(ROOT)) as aws:
        yield Deployed(aws, deploy(aws, assembly=assembly, stack=STACK))


def test_who_edited_in_the_console_is_told_and_stands_in_the_history(
    watched: Deployed, eventually: Eventually, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in watched.aws.environment(ON_CALL).items():
        monkeypatch.setenv(name, value)
    relight, client = Relight(capsys), watched.client("dynamodb")
    table_name, topic = watched.outputs["PoliciesTable"], watched.outputs["AlertsTopicArn"]
    arn = client.describe_table(TableName=table_name)["Table"]["TableArn"]
    table = DynamoPolicies(client, table_name)
    history = ("policy", "history", NAME, "--table", table_name)

    def told(identity: dict[str, Any], identifier: str, item: str = "live", **more: Any) -> None:  # noqa: ANN401 - an event's
        asked = {"tableName": table_name, "key": {"name": NAME, "sk": item}}
        resources = [{"accountId": "1", "type": "AWS::DynamoDB::Table", "ARN": arn}]
        event = {"eventID": identifier, "requestParameters": asked, "resources": resources, **more}
        watched.aws.emit_service_event(
            source="aws.dynamodb",
            detail_type="AWS API Call via CloudTrail",
            detail=detail(datetime.now(UTC), NAME, identity, **event),
        )

    table.put_live(DOCUMENT)
    eventually(lambda: table.head(NAME))
    assert " unknown" in relight(*history)[1]

    account, guard = arn.split(":")[4], client_role(watched, "GuardFunction")
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
    alerts = eventually(lambda: [each["Message"] for each in watched.aws.published(topic)])
    assert len(alerts) == 1
    assert f"Policy Edited: kim@example.com (SSO Admin) wrote {NAME} in AWS's console at" in alerts[0]

    assert "calls-dlq" in relight("dlq", "list")[1], "what it cannot read is found where all that failed is"

    report = check(watched.aws.recorded_calls(), roles_of(watched.aws, STACK))
    assert [str(denied) for denied in report.denied] == []
    assert report.unknown_conditions == []
    role = client_role(watched, "CallersFunction")
    assert [str(grant) for grant in report.unused if grant.role == role] == [], "it may do nothing that it does not do"


def client_role(watched: Deployed, output: str) -> str:
    """Return the name of the role of the function in this output."""
    function = watched.client("lambda").get_function_configuration(FunctionName=watched.outputs[output])
    name: str = function["Role"].rpartition("/")[2]
    return name

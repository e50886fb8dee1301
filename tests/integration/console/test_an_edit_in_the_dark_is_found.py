"""What is edited or deleted while the guard's stream is off is judged by the clock: the stream may forget it."""

from collections.abc import Iterator

import pytest

from functions.adapters.policies import DynamoPolicies
from functions.adapters.policy_items import key_of
from functions.ports.policies import Head
from local.aws.iam import check, roles_of
from local.demo.cluster import STACK
from policies.contract.vocabulary import PolicyMode
from tests.integration.console.deployed import Deployed
from tests.tools.editing import DOCUMENT

NAME = "written-in-the-dark"


@pytest.fixture
def dark(deployed: Deployed) -> Iterator[Deployed]:
    """The stack whose guard hears of nothing."""
    functions = deployed.client("lambda")
    mappings = functions.list_event_source_mappings()["EventSourceMappings"]
    [guards] = [each["UUID"] for each in mappings if deployed.outputs["GuardFunction"] in each["FunctionArn"]]
    functions.update_event_source_mapping(UUID=guards, Enabled=False)
    yield deployed
    functions.update_event_source_mapping(UUID=guards, Enabled=True)


def test_an_edit_and_a_deletion_come_into_force_with_the_next_look(dark: Deployed) -> None:
    client, table_name = dark.client("dynamodb"), dark.outputs["PoliciesTable"]
    table = DynamoPolicies(client, table_name)

    def look() -> tuple[int, PolicyMode]:
        answer = dark.client("lambda").invoke(
            FunctionName=dark.outputs["GuardFunction"], Payload=b'{"source": "aws.events"}'
        )
        assert "FunctionError" not in answer, answer["Payload"].read()
        head = table.head(NAME)
        assert isinstance(head, Head)
        return head.revision, head.mode

    table.put_live({**DOCUMENT, "name": NAME, "mode": "active"})
    assert table.head(NAME) is None
    assert look() == (1, PolicyMode.ACTIVE)
    client.delete_item(TableName=table_name, Key=key_of(NAME, "live"))
    assert look() == (2, PolicyMode.OFF)
    assert look() == (2, PolicyMode.OFF)
    report = check(dark.aws.recorded_calls(), roles_of(dark.aws, STACK))
    assert [str(denied) for denied in report.denied] == []

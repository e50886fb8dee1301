"""DynamoDB streams to Lambda: old and new images, in order, retried until they go through."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from tests.integration.local.stacks import Resources, Stack, eventually, function, mapping, role

Launched = Callable[[Resources], Stack]


def _resources(out: Path, kind: str = "AWS::DynamoDB::Table", **properties: Any) -> dict[str, Any]:
    table = {
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "BillingMode": "PAY_PER_REQUEST",
        "StreamSpecification": {"StreamViewType": "NEW_AND_OLD_IMAGES"},
    }
    return {
        "Role": role(),
        "Table": {"Type": kind, "Properties": table},
        "Function": function("sink.records", out),
        "Mapping": mapping({"Fn::GetAtt": ["Table", "StreamArn"]}, StartingPosition="TRIM_HORIZON", **properties),
    }


def _put(stack: Stack, identifier: str, **values: str) -> None:
    item = {"id": {"S": identifier}, **{name: {"S": value} for name, value in values.items()}}
    stack.client("dynamodb").put_item(TableName=stack.outputs["Table"], Item=item)


def _records(stack: Stack) -> list[dict[str, Any]]:
    return [record for note in stack.notes() for record in note["event"]["Records"]]


def test_inserts_changes_and_removals_carry_both_images_in_order(launched: Launched, out: Path) -> None:
    stack = launched(_resources(out))
    _put(stack, "a", state="open")
    _put(stack, "a", state="closed")
    stack.client("dynamodb").delete_item(TableName=stack.outputs["Table"], Key={"id": {"S": "a"}})
    eventually(lambda: len(_records(stack)) == 3)
    records = _records(stack)
    assert [record["eventName"] for record in records] == ["INSERT", "MODIFY", "REMOVE"]
    change = records[1]["dynamodb"]
    assert change["OldImage"]["state"] == {"S": "open"}
    assert change["NewImage"]["state"] == {"S": "closed"}
    assert change["Keys"] == {"id": {"S": "a"}}
    assert "NewImage" not in records[2]["dynamodb"]
    assert records[0]["eventSource"] == "aws:dynamodb"


def test_a_put_that_changes_nothing_is_no_event(launched: Launched, out: Path) -> None:
    stack = launched(_resources(out))
    for state in ("same", "same", "other"):
        _put(stack, "a", state=state)
    eventually(lambda: len(_records(stack)) == 2)
    assert [record["eventName"] for record in _records(stack)] == ["INSERT", "MODIFY"]


def test_a_global_table_streams_as_well(launched: Launched, out: Path) -> None:
    stack = launched(_resources(out, kind="AWS::DynamoDB::GlobalTable"))
    _put(stack, "a", state="open")
    assert eventually(lambda: _records(stack))[0]["eventName"] == "INSERT"


def test_a_failing_record_is_isolated_retried_and_given_up_while_order_holds(launched: Launched, out: Path) -> None:
    stack = launched(_resources(out, BisectBatchOnFunctionError=True, MaximumRetryAttempts=1))
    for number in range(4):
        _put(stack, str(number), **({"poison": "yes"} if number == 1 else {}))
    eventually(lambda: "3" in stack.ids() and stack.batches().count(["1"]) >= 2)
    assert stack.batches().count(["1"]) == 2


def test_of_many_conditional_writes_at_once_exactly_one_succeeds(launched: Launched, out: Path) -> None:
    stack = launched(_resources(out))

    def claim(number: int) -> bool:
        try:
            stack.client("dynamodb").put_item(
                TableName=stack.outputs["Table"],
                Item={"id": {"S": "lease"}, "owner": {"N": str(number)}},
                ConditionExpression="attribute_not_exists(id)",
            )
        except ClientError:
            return False
        return True

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(claim, range(64))) == 1

"""Policies are edited on the deployed stack, in AWS's console and by `relight policy`: nobody's work is lost."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from functions.adapters.policies import DynamoPolicies
from local.aws.iam import check, roles_of
from local.aws.principals import role_name
from local.demo.cluster import STACK
from policies.contract.vocabulary import PolicyMode
from policies.documents import canonical, operators_fields
from tests.integration.console.deployed import Deployed, Relight
from tests.tools.editing import DOCUMENT as SHIPPED

Eventually = Callable[[Callable[[], Any]], Any]
NAME = "edited-by-persons"
DOCUMENT = {**SHIPPED, "name": NAME}


class Desk:
    """The policies table of the deployed stack, and what people hear."""

    def __init__(self, deployed: Deployed, eventually: Eventually) -> None:
        self.deployed, self.eventually = deployed, eventually
        self.name = deployed.outputs["PoliciesTable"]
        self.client = deployed.client("dynamodb")
        self.table = DynamoPolicies(self.client, self.name)

    def verdict(self) -> dict[str, Any]:
        """The guard's verdict on what stands there now, within seconds."""
        return dict(self.eventually(lambda: self.table.verdict(self.table.live(NAME) or {"name": NAME})))

    def update(self, **values: dict[str, Any]) -> dict[str, Any]:
        self.client.update_item(
            TableName=self.name,
            Key={"name": {"S": NAME}, "sk": {"S": "live"}},
            UpdateExpression="SET " + ", ".join(f"#{name} = :{name}" for name in values),
            ExpressionAttributeNames={f"#{name}": name for name in values},
            ExpressionAttributeValues={f":{name}": value for name, value in values.items()},
        )
        return self.verdict()

    def alerts(self, beginning: str) -> list[str]:
        """What the topic published so far that begins so."""
        told = self.deployed.aws.published(self.deployed.outputs["AlertsTopicArn"])
        texts = [json.loads(each["Message"]) if each["Message"].startswith('"') else each["Message"] for each in told]
        return [text for text in texts if text.startswith(beginning) and NAME in text]

    def writes(self) -> int:
        """How often the guard has written so far."""
        function = self.deployed.outputs["GuardFunction"]
        role = role_name(self.deployed.client("lambda").get_function_configuration(FunctionName=function)["Role"])
        writing = {"dynamodb:PutItem", "dynamodb:UpdateItem"}
        calls = self.deployed.aws.recorded_calls()
        return sum(call.count for call in calls if call.principal == role and call.action in writing)


@pytest.fixture
def desk(deployed: Deployed, eventually: Eventually, monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = Desk(deployed, eventually)
    monkeypatch.setenv("POLICIES_TABLE", desk.name)
    return desk


def test_a_night_of_edits(desk: Desk, relight: Relight, tmp_path: Path, eventually: Eventually) -> None:
    folder = tmp_path / "ours"
    folder.mkdir()
    (folder / f"{NAME}.yaml").write_text(json.dumps(DOCUMENT))

    # Pushed by a command: accepted, and told by whom.
    status, shown = relight("policy", "push", str(folder), "--edited-by", "kim", "--reason", "new", "--wait", "120")
    assert (status, f"accepted   {NAME} (revision 1)" in shown) == (0, True)
    first = desk.table.revision(NAME, 1)
    assert first is not None
    assert (first.edit.by, first.edit.reason, first.edit.source) == ("kim", "new", "ours")

    # Changed in the console: accepted, by nobody that is known.
    assert desk.update(settle={"S": "20s"})["by"] == "unknown"
    assert desk.table.heading(NAME).revision == 2  # type: ignore[union-attr]

    # A mistake in the console: a verdict with its reasons on the item, an alert with both, and nothing changes.
    bad = desk.update(settle={"S": "soon"})
    assert (bad["status"], bad["revision"], bad["problems"][0]["path"]) == ("rejected", 2, "settle")
    (alert,) = eventually(lambda: desk.alerts("Policy Rejected"))
    assert "revision 2 stays in force" in alert
    assert "settle:" in alert
    assert desk.table.head(NAME).revision == 2  # type: ignore[union-attr]

    # The next push would write over that edit: it does not.
    assert relight("policy", "push", str(folder))[0] == 1
    assert desk.table.live(NAME)["settle"] == "soon"  # type: ignore[index]

    # Back to the first, byte for byte.
    status, shown = relight("policy", "rollback", NAME, "--to", "1", "--edited-by", "ann", "--reason", "too slow")
    assert status == 0
    assert "revision 1 is in force again, as revision 3" in shown
    head, live = desk.table.head(NAME), desk.table.live(NAME)
    assert head is not None
    assert live is not None
    assert head.document == first.document == canonical(operators_fields(live))

    # Deleted: off, with an alert that says how it comes back; and it does.
    desk.client.delete_item(TableName=desk.name, Key={"name": {"S": NAME}, "sk": {"S": "live"}})
    eventually(lambda: desk.table.head(NAME).mode is PolicyMode.OFF)  # type: ignore[union-attr]
    (alert,) = eventually(lambda: desk.alerts("Policy Deleted"))
    assert f"relight policy rollback {NAME}" in alert
    assert relight("policy", "rollback", NAME)[0] == 0
    assert desk.table.head(NAME).document == first.document  # type: ignore[union-attr]

    # Somebody edits what only the guard writes: it is put right.
    key = {"name": {"S": NAME}, "sk": {"S": "head"}}
    item = desk.client.get_item(TableName=desk.name, Key=key)["Item"]
    desk.client.put_item(TableName=desk.name, Item={**item, "document": {"S": "{}"}})
    eventually(lambda: desk.table.head(NAME).document == first.document)  # type: ignore[union-attr]
    eventually(lambda: desk.alerts("Policy Mended"))

    # All of it is told afterwards.
    status, told = relight.json("policy", "history", NAME)
    assert status == 0
    known = [(one["revision"], one["by"], one["restored"], one["mode"]) for one in told["revisions"]]
    assert known == [
        (5, known[0][1], 3, "active"),
        (4, "unknown", None, "off"),
        (3, "ann", 1, "active"),
        (2, "unknown", None, "active"),
        (1, "kim", None, "active"),
    ]
    assert len(desk.alerts("Policy")) == 3, "each once"
    _is_quiet(desk)
    _may(desk)


def _is_quiet(desk: Desk) -> None:
    """The guard takes none of its own writes for an edit: once it has done what there was, it writes no more."""

    def for_two_seconds() -> bool:
        before, until = desk.writes(), time.monotonic() + 2.0
        while desk.writes() == before:
            if time.monotonic() >= until:
                return True
            time.sleep(0.2)
        return False

    desk.eventually(for_two_seconds)


def _may(desk: Desk) -> None:
    """The deployed role allows each of the guard's calls; which it used, docs/grants.md says."""
    calls = desk.deployed.aws.recorded_calls()
    roles = {name: policies for name, policies in roles_of(desk.deployed.aws, STACK).items() if "Guard" in name}
    report = check([call for call in calls if call.principal in roles], roles)
    assert [str(denied) for denied in report.denied] == []
    used = {call.action for call in calls if call.principal in roles}
    assert {"dynamodb:Query", "dynamodb:PutItem", "dynamodb:GetItem"} <= used

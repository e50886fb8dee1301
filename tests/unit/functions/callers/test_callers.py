"""A call is noted and told once, whenever and however often CloudTrail tells of it."""

from datetime import timedelta
from typing import Any

import boto3
import pytest

from functions.callers.callers import Callers
from functions.callers.reading import APPLICATION, UnreadableError, read
from functions.callers.settings import Settings
from functions.clients import bounded
from functions.ports.calls import ANY, Call
from functions.twins.calls import MemoryCalls
from functions.twins.notices import MemoryNotices
from functions.twins.triage import MemoryTelemetry
from policies.contract.errors import SettingsError
from policies.coordination.switches import EVERYTHING
from tests.tools.envelopes import NOW
from tests.tools.trail import ACCOUNT, body, detail, session

GUARD = f"arn:aws:iam::{ACCOUNT}:role/Relight-GuardRole"
KIM = "kim@example.com (SSO Admin)"
COMMAND: dict[str, Any] = {
    "userAgent": "Boto3/1.44.8 md/Botocore#1.44.8 app/relight Botocore/1.44.8",
    "sessionCredentialFromConsole": None,
}


class Desk:
    def __init__(self) -> None:
        self.calls, self.notices, self.telemetry = MemoryCalls(), MemoryNotices(), MemoryTelemetry()
        self.callers = Callers(self.calls, self.notices, self.telemetry, own=frozenset({GUARD}))

    def take(self, *records: dict[str, Any]) -> None:
        messages = [{"messageId": str(at), "body": body(each)} for at, each in enumerate(records)]
        assert self.callers.take(messages) == []

    def noted(self) -> list[tuple[str, str, str]]:
        return sorted((call.policy, call.item, call.by) for call in self.calls.kept.values())

    def told(self) -> list[str]:
        return [notice.text for notice in self.notices.told.values()]


def test_an_edit_in_the_console_is_noted_and_told_once() -> None:
    desk = Desk()
    desk.take(detail(NOW, "p"), detail(NOW, "p"))
    desk.take(detail(NOW, "p"))
    (call,) = desk.calls.kept.values()
    at = NOW.replace(microsecond=0)
    assert call == Call(detail(NOW, "p")["eventID"], at, "p", "live", KIM, "PutItem", "console")
    when = f"{at:%Y-%m-%d %H:%M:%S}"
    assert desk.told() == [f"{KIM} wrote p in AWS's console at {when} UTC (PutItem)."]
    (notice,) = desk.notices.told.values()
    assert (notice.kind, notice.by, notice.policy) == ("edited", KIM, "p")


def test_a_command_says_itself_who_edits_so_it_is_only_noted() -> None:
    desk = Desk()
    desk.take(detail(NOW, "p", **COMMAND))
    assert (desk.noted(), desk.told()) == ([("p", "live", KIM)], [])
    client = boto3.client("dynamodb", region_name="us-east-1", config=bounded())
    agent = getattr(client.meta.config, "user_agent", "")  # botocore's types do not know it
    assert APPLICATION in agent.split(), "what our commands and functions call themselves"


def test_the_roles_of_our_own_functions_are_nobody_and_so_is_a_call_that_failed_or_reads() -> None:
    desk = Desk()
    failed: dict[str, Any] = {
        "errorCode": "ConditionalCheckFailedException",
        "errorMessage": "The conditional request failed",
    }
    select = {"statement": "SELECT * FROM policies WHERE name = 'p'"}
    desk.take(
        detail(NOW, "p", session("Relight-Guard", "Relight-GuardRole")),
        detail(NOW, "p", **failed),
        detail(NOW, "p", readOnly=True),
        detail(NOW, "p", eventName="ExecuteStatement", requestParameters=select),
        detail(NOW, "p", requestParameters={"key": {"name": "#shadow#p", "sk": "shadow"}}),
        detail(NOW, "p", requestParameters={"key": {"name": "p", "sk": "answer"}}),
    )
    assert (desk.noted(), desk.told()) == ([], [])


def test_who_else_writes_what_only_relight_writes_is_told_even_with_a_command() -> None:
    desk = Desk()
    for name, sort in (("p", "head"), ("p", "rev#00000003"), ("HEADS", "head"), ("#call#p", "2026#x#live")):
        asked = {"tableName": "policies", "key": {"name": name, "sk": sort}}
        desk.take(detail(NOW, f"{name}{sort}", requestParameters=asked, **COMMAND))
    assert len(desk.told()) == 4
    assert f"{KIM} wrote head of p, not a person's with `relight` at" in desk.told()[0]


def test_a_transaction_and_a_batch_name_each_item_they_write() -> None:
    """The guide's example has `key` and `Key`, `tableName` and `TableName`; a batch is in none of them."""
    desk = Desk()
    items = [
        {"operation": "Put", "tableName": "policies", "key": {"name": "a", "sk": "live"}, "items": ["name"]},
        {"operation": "Delete", "TableName": "policies", "Key": {"name": "b", "sk": "live"}},
        {"operation": "ConditionCheck", "TableName": "policies", "Key": {"name": "c", "sk": "live"}},
    ]
    desk.take(detail(NOW, "t", eventName="TransactWriteItems", requestParameters={"requestItems": items}))
    puts = [{"putRequest": {"item": {"name": {"S": f"n{at}"}, "sk": {"S": "live"}}}} for at in range(50)]
    asked = {"requestItems": {"policies": puts}}
    desk.take(detail(NOW, "batch", eventName="BatchWriteItem", requestParameters=asked))
    assert {name for name, _, _ in desk.noted()} == {"a", "b", *(f"n{at}" for at in range(50))}
    assert len(desk.told()) == 2
    assert "wrote n0, n1, n10 and 47 more" in desk.told()[1]


@pytest.mark.parametrize(
    "asked", [{"statement": "INSERT INTO policies VALUE {'name': ***(Redacted)}"}, None, {"omitted": True}]
)
def test_a_call_that_does_not_say_which_item_it_wrote_may_have_written_any(asked: object) -> None:
    desk = Desk()
    desk.take(detail(NOW, "p", eventName="ExecuteStatement", requestParameters=asked))
    assert desk.noted() == [(ANY, "", KIM)]
    assert "wrote some item of the policies table" in desk.told()[0]


def test_the_switch_of_everything_and_a_deletion_are_told_as_what_they_are() -> None:
    desk = Desk()
    desk.take(detail(NOW, EVERYTHING), detail(NOW + timedelta(seconds=9), "p", eventName="DeleteItem"))
    assert "wrote the switch of everything in AWS's console" in desk.told()[0]
    assert f"{KIM} deleted p in AWS's console" in desk.told()[1]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"detail": 7}', '{"detail": {"userIdentity": []}}', "\ud800"])
def test_what_is_no_event_goes_to_the_dead_letters_alone(text: str) -> None:
    with pytest.raises(UnreadableError):
        read(text)
    desk = Desk()
    good = body(detail(NOW, "p"))
    messages = [{"messageId": "1", "body": good}, {"messageId": "2", "body": text}, {"messageId": "3", "body": good}]
    assert desk.callers.take(messages) == ["2"]
    assert desk.noted() == [("p", "live", KIM)]
    assert desk.telemetry.counts["CallsUnreadable"] == 1


def test_an_event_with_a_time_without_an_offset_or_a_name_of_junk_does_no_harm() -> None:
    with pytest.raises(UnreadableError):
        read(body(detail(NOW, "p", eventTime="yesterday")))
    junk = {"key": {"name": "x" * 2000, "sk": "rev#" + "y" * 1000}}
    (call,) = read(body(detail(NOW, "p", requestParameters=junk))).calls
    assert len(call.item) <= 200


def test_settings_name_what_is_missing() -> None:
    told = {"POLICIES_TABLE": "t", "INCIDENTS_TABLE": "i", "OWN_ROLES": "a b"}
    assert Settings.from_environment(told) == Settings("t", "i", ("a", "b"))
    with pytest.raises(SettingsError, match="OWN_ROLES"):
        Settings.from_environment({**told, "OWN_ROLES": ""})

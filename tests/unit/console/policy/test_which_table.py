"""Every command of policies finds its table as the others find theirs: by the stack, unless somebody names it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from console.dlq.model import DlqError, Stack
from console.main import main
from console.policy.whereabouts import table_of
from functions.adapters.policies import DynamoPolicies
from functions.guard.guard import Guard
from functions.twins.notices import MemoryNotices
from functions.twins.triage import MemoryTelemetry
from policies.contract.errors import DependencyError
from policies.coordination.switches import EVERYTHING
from tests.tools.editing import DOCUMENT, NAME
from tests.tools.envelopes import NOW
from tests.tools.tables import create_policies_table

STACKS = {"Relight": "ours", "Other": "theirs"}
COMMANDS = (
    ("stop", "--reason", "3 am"),
    ("start",),
    ("list",),
    ("show", NAME),
    ("show", NAME, "--revision", "1"),
    ("history", NAME),
    ("diff", NAME),
    ("pull", "--to", "pulled"),
    ("set-mode", NAME, "shadow", "--wait", "0"),
    ("rollback", NAME, "--wait", "0"),
    ("push", "mine", "--dry-run"),
    ("push", "mine", "--force"),
)


@pytest.fixture
def stacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, DynamoPolicies]]:
    """Two stacks, and the tables of each; the terminal names no table."""
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.delenv("POLICIES_TABLE", raising=False)
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("mine", f"{NAME}.yaml").write_text(json.dumps(DOCUMENT))
    with mock_aws():
        client: Any = boto3.client("dynamodb", region_name="us-east-1")
        tables = {name: DynamoPolicies(client, name) for name in STACKS.values()}
        for stack, name in STACKS.items():
            create_policies_table(client, name)
            outputs = {"PoliciesTable": {"Value": name}}
            template = {"Resources": {"Alerts": {"Type": "AWS::SNS::Topic"}}, "Outputs": outputs}
            boto3.client("cloudformation", region_name="us-east-1").create_stack(
                StackName=stack, TemplateBody=json.dumps(template)
            )
        for document in ({**DOCUMENT, "settle": "30s"}, DOCUMENT):
            tables["ours"].put_live(document)
            Guard(tables["ours"], MemoryNotices(), MemoryTelemetry(), lambda: NOW).look_at(NAME)
        yield tables


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_finds_the_table_by_the_stack(
    words: tuple[str, ...], stacks: dict[str, DynamoPolicies], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["policy", *words])
    told = capsys.readouterr()
    assert "table" not in told.err, told.err
    assert told.out or "not judged yet" in told.err
    assert main(["policy", *words, "--stack", "Nowhere"]) in {1, 2}
    told = capsys.readouterr()
    assert "there is no stack 'Nowhere' in us-east-1" in told.err
    assert "--table or POLICIES_TABLE" in told.err, "the way that needs no stack"


def test_the_off_switch_is_that_of_the_stack_that_is_named(
    stacks: dict[str, DynamoPolicies], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped() -> set[str]:
        return {name for name, table in stacks.items() if (table.live(EVERYTHING) or {}).get("mode") == "off"}

    assert main(["policy", "stop", "--reason", "3 am"]) == 0
    assert stopped() == {"ours"}
    assert main(["policy", "start"]) == 0
    monkeypatch.setenv("POLICIES_TABLE", "ours")
    assert main(["policy", "stop", "--stack", "Other"]) == 0
    assert stopped() == {"theirs"}
    assert main(["policy", "stop"]) == 0
    assert stopped() == {"ours", "theirs"}


NOBODY = (None, None, None)


@pytest.mark.parametrize(
    ("table", "stack", "remembered", "found"),
    [
        ("typed", "Other", "remembered", "typed"),
        (None, "Other", "remembered", "theirs"),
        (None, None, "remembered", "remembered"),
        (None, None, "", "ours"),
        (*NOBODY, "ours"),
    ],
)
def test_what_is_typed_counts_before_what_the_terminal_remembers(
    table: str | None, stack: str | None, remembered: str | None, found: str
) -> None:
    assert table_of(table, stack, remembered, described) == found


def test_a_stack_that_is_none_of_ours_is_told_with_the_way_around() -> None:
    with pytest.raises(DependencyError, match="no output PoliciesTable") as told:
        table_of(None, "Bare", None, described)
    assert "A table that --table or POLICIES_TABLE names is not looked for" in told.value.hint
    with pytest.raises(DependencyError, match="no stack 'Gone'"):
        table_of(None, "Gone", None, described)


def described(name: str) -> Stack:
    if name == "Gone":
        raise DlqError("there is no stack 'Gone' in us-east-1.", hint="Name it with --stack.")
    return Stack(name, {"PoliciesTable": STACKS[name]} if name in STACKS else {}, [])

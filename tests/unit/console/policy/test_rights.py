"""The rights that the page of policies gives a person are those that the commands use: no fewer, and no more."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from moto import mock_aws

from console.main import main
from functions.adapters.policies import DynamoPolicies
from functions.guard.guard import Guard
from functions.twins.notices import MemoryNotices
from functions.twins.triage import MemoryTelemetry
from policies.coordination.switches import SelfShadow
from tests.tools.editing import DOCUMENT, NAME
from tests.tools.envelopes import NOW, SHIPPED
from tests.tools.tables import create_policies_table

PAGE = Path(__file__).parents[4] / "docs" / "policies.md"
FILE = str(SHIPPED / f"{NAME}.yaml")
COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "stop": (("stop", "--reason", "x"),),
    "start": (("start",),),
    "show": (("show", NAME),),
    "show --revision": (("show", NAME, "--revision", "1"),),
    "history": (("history", NAME),),
    "set-mode": (("set-mode", NAME, "active"), ("set-mode", NAME, "off", "--wait", "0")),
    "rollback": (("rollback", NAME, "--wait", "0"),),
    "list": (("list",),),
    "diff": (("diff", "FOLDER"), ("diff", FILE), ("diff", NAME), ("diff", NAME, "--revision", "1..2")),
    "pull": (("pull", "--to", "FOLDER"),),
    "push": (("push", "FOLDER", "--mode", "off", "--force", "--wait", "0"), ("push", FILE, "--force")),
}


def documented() -> dict[str, set[str]]:
    """Return command -> rights on the policies table, from the rows of the page."""
    section = PAGE.read_text(encoding="utf-8").partition("\n#### Rights\n")[2].partition("\n#")[0]
    rows = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| `")]
    return {
        command: set(re.findall(r"`dynamodb:(\w+)`", rights))
        for commands, rights in rows
        for command in re.findall(r"`([^`]+)`", commands)
    }


@pytest.fixture
def table() -> Iterator[DynamoPolicies]:
    """A policy of two revisions, which put itself in shadow."""
    with mock_aws():
        client = boto3.client("dynamodb")
        create_policies_table(client)
        table = DynamoPolicies(client, "policies")
        for document in ({**DOCUMENT, "settle": "30s"}, DOCUMENT):
            table.put_live(document)
            Guard(table, MemoryNotices(), MemoryTelemetry(), lambda: NOW).look_at(NAME)
        table.self_shadows.put(SelfShadow(policy=NAME, cluster="west", incident="4be1", since=NOW, why="a loop"))
        yield table


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What is asked of DynamoDB from now on."""
    found: set[str] = set()
    ask = BaseClient._make_api_call  # type: ignore[attr-defined]  # where every call comes by

    def noted(client: Any, operation: str, arguments: Any) -> Any:  # noqa: ANN401 - as botocore has it
        if client.meta.service_model.service_name == "dynamodb":
            found.add(operation)
        return ask(client, operation, arguments)

    monkeypatch.setattr(BaseClient, "_make_api_call", noted)
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_uses_the_rights_that_the_page_gives_it(
    command: str, table: DynamoPolicies, asked: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POLICIES_TABLE", "policies")
    (tmp_path / f"{NAME}.yaml").write_text(Path(FILE).read_text())
    for words in COMMANDS[command]:
        asked_for = [str(tmp_path) if word == "FOLDER" else word for word in words]
        main(["policy", *asked_for])
    assert asked == documented()[command]


def test_every_command_on_the_table_has_its_row() -> None:
    assert set(documented()) == set(COMMANDS)

"""What the exit status says, and whether `--json` has a document then, as the runbook's table has it."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from console.main import main
from tests.tools.envelopes import SHIPPED
from tests.tools.tables import create_policies_table

ROOT = Path(__file__).parents[3]
NAME = "xid-79-fell-off-the-bus"
EVENT = '{"kind": "gpu.xid", "attributes": {"xid": 79}}'
EXPLAIN = "policy explain --event event.json"


@pytest.fixture(scope="module")
def table() -> Iterator[str]:
    """The name of a table with no policy, for all tests here: none of them writes."""
    with mock_aws():
        create_policies_table(boto3.client("dynamodb"))
        yield "policies"


@pytest.fixture
def here(table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a good policy, a bad one, and an event; the table is named."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("POLICIES_TABLE", table)
    for folder in ("ours", "bad", "past"):
        Path(folder).mkdir()
    text = (SHIPPED / f"{NAME}.yaml").read_text()
    Path("ours", f"{NAME}.yaml").write_text(text)
    Path("bad", f"{NAME}.yaml").write_text(text.replace("findings: 1", "findings: 0", 1))
    Path("broken.yaml").write_text("name: broken")
    Path("event.json").write_text(EVENT)
    return tmp_path


@pytest.mark.parametrize("json_too", [(), ("--json",)], ids=["for people", "for machines"])
@pytest.mark.parametrize(
    "words",
    [
        *("policy lint nowhere", "policy lint ours nowhere", "policy lint nowhere.yaml", "policy test nowhere"),
        *("policy diff nowhere.yaml", "policy diff no/where"),
        *("policy list nowhere", "policy push nowhere", "policy push ours nowhere", "policy diff nowhere ours"),
        *("policy explain --event nowhere.json", f"{EXPLAIN} --policies ours --state nowhere.json"),
        *(f"{EXPLAIN} --policies nowhere", f"{EXPLAIN} --policies ours --fact node.lemonscore=1"),
        f"{EXPLAIN} --policies ours --fact node.lemon_score=high",
        *("policy backtest --events nowhere", "policy record 4be1 --events nowhere", "policy report --events nowhere"),
        *("archive stats nowhere", "checkpoints inspect nowhere"),
        *("policy push ours/xid-79-fell-off-the-bus.yaml --prune", "policy push ours bad --expect-revision 1"),
    ],
)
def test_what_is_named_and_not_there_or_cannot_be_meant_is_asked_wrongly(
    words: str, json_too: tuple[str, ...], here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words.split(), *json_too]) == 2
    told = capsys.readouterr()
    assert told.out == "", "of what is not there nothing is said"
    assert re.fullmatch(r"relight [a-z]+: .+[.)…]\n", told.err), "what is wrong and what to do, once"


@pytest.mark.parametrize("wanted", ["ours", NAME, f"{NAME} --revision 1"])
def test_a_diff_that_cannot_read_the_table_does_not_say_that_they_differ(
    wanted: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "diff", *wanted.split(), "--table", "another", "--json"]) == 2
    told = capsys.readouterr()
    assert (told.out, "ResourceNotFoundException" in told.err) == ("", True)


def test_what_answers_with_1_for_machines_prints_the_document_as_the_runbook_says(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = {
        "lint": ("policy", "lint", "broken.yaml"),
        "test": ("policy", "test", "bad"),
        "push": ("policy", "push", "broken.yaml"),
        "checkpoints inspect": ("checkpoints", "inspect", "past"),
    }
    for words in asked.values():
        assert main([*words, "--json"]) == 1, words
        assert json.loads(capsys.readouterr().out), words
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith("| 1 |")]
    assert [name for name in asked if name not in re.findall(r"`(?:policy )?([a-z ]+)`", row)] == []

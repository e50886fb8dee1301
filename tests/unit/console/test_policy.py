"""`relight policy`: check, push, list and show, on the table that the guard watches."""

import re
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto import mock_aws

from console.main import main
from functions.adapters.policies import DynamoPolicies
from functions.guard.guard import Guard
from functions.twins.notices import MemoryNotices
from functions.twins.triage import MemoryTelemetry
from policies.coordination.switches import EVERYTHING
from tests.tools.envelopes import NOW, SHIPPED
from tests.tools.tables import create_policies_table

NAME = "xid-79-fell-off-the-bus"


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """A folder of one policy, as it comes along but armed: a table of all takes the guard a while."""
    folder = tmp_path / "few"
    folder.mkdir()
    text = (SHIPPED / f"{NAME}.yaml").read_text()
    (folder / f"{NAME}.yaml").write_text(re.sub("^mode: .*$", "mode: active", text, flags=re.MULTILINE))
    return folder


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[DynamoPolicies]:
    with mock_aws():
        client = boto3.client("dynamodb")
        create_policies_table(client)
        monkeypatch.setenv("POLICIES_TABLE", "policies")
        yield DynamoPolicies(client, "policies")


def judge(table: DynamoPolicies) -> None:
    for name in table.names():
        Guard(table, MemoryNotices(), MemoryTelemetry(), lambda: NOW).look_at(name)


def test_the_shipped_policies_are_good(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "lint"]) == 0
    number = len(list(SHIPPED.glob("*.yaml")))
    assert f"{number} of {number} policies are good." in capsys.readouterr().out


def test_lint_says_what_is_wrong_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text((SHIPPED / f"{NAME}.yaml").read_text().replace('== "gpu.xid"', '== "gpu.xidd"'))
    assert main(["policy", "lint", str(bad)]) == 1
    told = capsys.readouterr()
    line = 1 + next(at for at, text in enumerate(bad.read_text().splitlines()) if text.startswith("when:"))
    assert f"{bad}:{line}: L203 problem: when: 'gpu.xidd' is no event.kind. Did you mean gpu.xid" in told.err
    assert "0 of 1 policies are good." in told.out


def test_push_writes_once_and_the_guard_does_the_rest(
    table: DynamoPolicies, few: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "push", str(few)]) == 0
    assert f"written    {NAME}" in capsys.readouterr().out
    judge(table)
    assert main(["policy", "push", str(few)]) == 0
    assert f"unchanged  {NAME}" in capsys.readouterr().out
    assert main(["policy", "list"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith(NAME)]
    assert line.split() == [NAME, "active", "rev", "1", "accepted"]


def test_lint_notes_what_comes_to_nothing_today(few: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (good,) = few.iterdir()
    good.write_text(good.read_text().replace("otherwise: [page_operator]", "otherwise: [reboot_node, page_operator]"))
    assert main(["policy", "lint", str(few)]) == 0
    assert "L701 note: otherwise: reboot_node is carried out by nobody yet." in capsys.readouterr().out


def test_all_that_come_along_are_pushed_without_a_name(
    table: DynamoPolicies, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "push"]) == 0
    assert f"written    {NAME}" in capsys.readouterr().out
    assert table.names() == sorted(path.stem for path in SHIPPED.glob("*.yaml"))


def test_push_can_set_the_mode(table: DynamoPolicies, few: Path) -> None:
    assert main(["policy", "push", str(few), "--mode", "shadow", "--edited-by", "anna"]) == 0
    live = table.live(NAME)
    assert live is not None
    assert (live["mode"], live["edited_by"]) == ("shadow", "anna")


def test_push_writes_nothing_when_anything_is_wrong(
    table: DynamoPolicies, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "good.yaml").write_text((SHIPPED / f"{NAME}.yaml").read_text())
    (tmp_path / "bad.yaml").write_text("name: x")
    assert main(["policy", "push", str(tmp_path)]) == 1
    assert "nothing was written" in capsys.readouterr().err
    assert table.names() == []


def test_show_tells_what_is_in_force_and_what_is_wrong_with_the_last_edit(
    table: DynamoPolicies, few: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["policy", "push", str(few)])
    judge(table)
    live = table.live(NAME)
    assert live is not None
    table.put_live({**live, "deadline": "soon"})
    judge(table)
    capsys.readouterr()
    assert main(["policy", "show", NAME]) == 0
    shown = capsys.readouterr().out
    assert "# revision 1, active" in shown
    assert "deadline: 30m" in shown
    assert "# the item: rejected (1 problems)" in shown
    assert "#   deadline: 'soon' is not a duration" in shown


def test_show_of_nothing_says_so(table: DynamoPolicies, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "show", "nope"]) == 1
    assert "there is no policy nope" in capsys.readouterr().err


def test_a_table_that_is_not_there_is_told_plainly(table: DynamoPolicies, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "list", "--table", "gone"]) == 1
    assert "ResourceNotFoundException" in capsys.readouterr().err


def test_everything_is_stopped_and_started_again(
    table: DynamoPolicies, few: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["policy", "push", str(few)])
    judge(table)
    assert main(["policy", "stop", "--reason", "a bad image", "--edited-by", "kim"]) == 0
    assert "Everything is stopped" in capsys.readouterr().out
    judge(table)
    stopped = table.live(EVERYTHING)
    assert stopped is not None
    assert (stopped["mode"], stopped["edited_by"], stopped["verdict"]["status"]) == ("off", "kim", "accepted")
    assert main(["policy", "list"]) == 0
    listed = capsys.readouterr().out
    assert listed.startswith("NOTHING ACTS: everything is stopped by kim: a bad image.")
    assert EVERYTHING not in listed
    assert main(["policy", "start"]) == 0
    main(["policy", "list"])
    assert "NOTHING ACTS" not in capsys.readouterr().out


@pytest.mark.parametrize("verb", ["lint", "push"])
def test_a_folder_without_policies_is_told_apart_from_bad_ones(
    verb: str, table: DynamoPolicies, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", verb, str(tmp_path)]) == 1
    assert "there is no policy here. Name files, or a folder" in capsys.readouterr().err
    assert table.names() == []


def test_a_table_that_is_not_there_and_a_region_that_nobody_named_are_no_tracebacks(
    table: DynamoPolicies, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "list", "--table", "other"]) == 1
    assert "Is it the right name, account and region" in capsys.readouterr().err
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    assert main(["policy", "list"]) == 1
    assert "no region. Name it with --region, or set AWS_REGION." in capsys.readouterr().err

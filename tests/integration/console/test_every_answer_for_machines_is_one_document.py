"""Whatever a program asks `relight` about a deployed stack, it gets one JSON document, or none and an exit status."""

import json
from pathlib import Path

import pytest

from tests.integration.console.deployed import Deployed, Relight
from tests.tools.envelopes import SHIPPED

NAME = "capacity-expiring"
NO_INCIDENT = "0" * 32  # a short one may be how the id begins of an incident that another file made
ANSWERED: tuple[tuple[str, ...], ...] = (
    *(("policy", "list"), ("policy", "show", NAME), ("policy", "show", NAME, "--revision", "1")),
    *(("policy", "history", NAME), ("policy", "diff", NAME), ("policy", "diff", "FILE"), ("policy", "report")),
    *(("archive", "stats"), ("archive", "pull", "PAST"), ("archive", "stats", "FOLDER")),
    *(("incident", "list"), ("incident", "list", "--closed"), ("node", "maintenance"), ("node", "commands", "i-0abc")),
    *(("dlq", "list"), ("dlq", "show", "rejects")),
)
# Others of this folder leave in the table and among the rejects what is a difference, or cannot be sent again.
ONE_WAY_OR_THE_OTHER: tuple[tuple[str, ...], ...] = (
    ("policy", "diff", "FOLDER"),
    ("dlq", "redrive", "rejects", "--dry-run"),
)
WRITTEN: tuple[tuple[str, ...], ...] = (
    *(
        ("policy", "push", "FOLDER", "--dry-run"),
        ("policy", "push", "FOLDER"),
        ("policy", "pull", NAME, "--to", "FOLDER"),
    ),
    *(("policy", "set-mode", NAME, "shadow"), ("policy", "rollback", NAME, "--to", "1")),
    *(("policy", "stop", "--reason", "a test"), ("policy", "start")),
)
REFUSED: tuple[tuple[str, ...], ...] = (
    *(("policy", "show", "nobody"), ("policy", "history", "nobody"), ("policy", "show", NAME, "--revision", "99")),
    *(
        ("policy", "diff", "nobody"),
        ("policy", "explain", "--incident", NO_INCIDENT),
        ("policy", "explain", "--node", "i-0"),
    ),
    *(("policy", "set-mode", "nobody", "off"), ("policy", "rollback", "nobody"), ("policy", "push", "no")),
    *(
        ("policy", "record", NO_INCIDENT),
        ("policy", "report", "--stack", "Nobody"),
        ("policy", "report", "--events", "FOLDER"),
    ),
    *(("policy", "backtest", "--events", "FOLDER"), ("policy", "backtest", "--events", "s3://nobody-has-this")),
    *(
        ("archive", "stats", "--stack", "Nobody"),
        ("archive", "stats", "s3://nobody-has-this"),
        ("archive", "stats", "no"),
    ),
    *(
        ("incident", "show", NO_INCIDENT),
        ("incident", "close", NO_INCIDENT, "--reason", "x", "--yes"),
        ("incident", "list", "--cluster", "x"),
    ),
    *(
        ("incident", "verdict", NO_INCIDENT, "faulty"),
        ("node", "maintenance", "i-0"),
        ("node", "run", "i-0", "collect_evidence"),
    ),
    *(("dlq", "show", "nobody"), ("incident", "list", "--stack", "Nobody")),
)


def test_one_document_or_none(
    deployed: Deployed,
    relight: Relight,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("POLICIES_TABLE", deployed.outputs["PoliciesTable"])
    folder = tmp_path / "policies"
    folder.mkdir()
    (folder / f"{NAME}.yaml").write_text((SHIPPED / f"{NAME}.yaml").read_text())
    assert relight("policy", "push", str(folder), "--source", "machines", "--wait", "180")[0] == 0
    places = {"FOLDER": str(folder), "FILE": str(folder / f"{NAME}.yaml"), "PAST": str(tmp_path / "past")}
    for words in ANSWERED:
        status, shown = relight(*(places.get(word, word) for word in words), "--json")
        assert (status, bool(json.loads(shown))) == (0, True), words
    for words in WRITTEN:
        status, shown = relight(*(places.get(word, word) for word in words), "--json")
        told = json.loads(shown)
        assert (status, told["action"], told["done"], told["left"]) == (0, words[1], True, []), words
        assert all({"name", "written"} <= set(one) for one in told["policies"]), words
    for words in ONE_WAY_OR_THE_OTHER:
        status, shown = relight(*(places.get(word, word) for word in words), "--json")
        assert (status in {0, 1}, bool(json.loads(shown))) == (True, True), words
    for words in REFUSED:
        capsys.readouterr()
        status, shown = relight(*(places.get(word, word) for word in words), "--json")
        assert (status in {1, 2}, shown) == (True, ""), words

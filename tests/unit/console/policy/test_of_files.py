"""`relight policy` on files: lint, test, list and explain need no account."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from console.main import main
from policies.evaluator import evaluate
from tests.tools.envelopes import NOW, SHIPPED, at, delivery, envelope, event, policy, rules
from tests.unit.policies.lint.mistakes import GOOD, NAME, NEGATIVE, document

FIRES = GOOD["examples"][0]


def put(folder: Path, **changes: Any) -> Path:  # noqa: ANN401 - fields of a document
    made = document(**changes)
    file = folder / f"{made['name']}.yaml"
    file.write_text(yaml.safe_dump(made, sort_keys=False))
    return file


def shown(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_lint_fails_for_a_warning_only_when_it_is_strict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = put(tmp_path, cites=[])
    assert main(["policy", "lint", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    line = 1 + file.read_text().splitlines().index("cites: []")
    assert told.startswith(f"{file}:{line}: L601 warning: cites: nothing is cited")
    assert told.endswith("1 of 1 policies are good. 1 warning.\n")
    assert main(["policy", "lint", str(tmp_path), "--strict"]) == 1
    put(tmp_path)
    assert main(["policy", "lint", str(tmp_path), "--strict"]) == 0


def test_lint_tells_machines_what_is_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = put(tmp_path, evidence="sticky")
    assert main(["policy", "lint", str(tmp_path), "--json"]) == 1
    found = shown(capsys)
    (flaw,) = found["flaws"]
    assert (flaw["code"], flaw["level"], flaw["file"], flaw["path"]) == ("L103", "problem", str(file), "evidence")
    assert file.read_text().splitlines()[flaw["line"] - 1].startswith("evidence: sticky")
    assert (found["policies"], found["good"], found["problems"]) == (1, 0, 1)


def test_two_files_of_one_name_are_not_both_good(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "copy.yaml").write_text(put(tmp_path).read_text())
    assert main(["policy", "lint", str(tmp_path)]) == 1
    assert "L114 problem: name: lost-gpu stands in" in capsys.readouterr().err


def test_examples_are_run_and_each_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path)
    assert main(["policy", "test", str(tmp_path)]) == 0
    assert capsys.readouterr().out == (
        f"pass  {NAME}: it falls off the bus\npass  {NAME}: another Xid\n2 of 2 examples end as they say.\n"
    )


def test_an_example_that_fails_says_what_became_of_each_event(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path, examples=[FIRES, {**NEGATIVE, "findings": 1}])
    assert main(["policy", "test", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert f"FAIL  {NAME}: another Xid (says 1 findings, 0 come out)" in told
    assert "0 s gpu.xid: no_match: `event.attributes.xid == 79` is false: event.attributes.xid is 31" in told
    assert told.endswith("1 of 2 examples end as they say.\n")
    main(["policy", "test", str(tmp_path), "--json"])
    assert [each["passed"] for each in shown(capsys)["policies"][0]["examples"]] == [True, False]


def test_what_cannot_be_run_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, when="event.kind ==")
    assert main(["policy", "test", str(tmp_path)]) == 1
    assert "1 policies could not be run: relight policy lint." in capsys.readouterr().out


def test_the_shipped_examples_end_as_they_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "test", "--json"]) == 0
    found = shown(capsys)
    assert found["failed"] == 0
    assert len(found["policies"]) == len(list(SHIPPED.glob("*.yaml")))


def test_a_folder_is_listed_without_an_account(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path)
    put(tmp_path, name="broken", evidence="sticky")
    assert main(["policy", "list", str(tmp_path), "--json"]) == 0
    broken, good = shown(capsys)["policies"]
    assert (broken["name"], broken["mode"], broken["problems"]) == ("broken", "refused", 1)
    assert good == {
        "name": NAME,
        "mode": "active",
        "revision": None,
        "kinds": ["gpu.xid"],
        "do": ["isolate", "replace_node", "resume_job"],
        "otherwise": ["page_operator"],
        "limits": {"replacements": {"at_most": 2, "within": 600.0, "per": "cluster"}},
        "examples": 2,
        "problems": 0,
        "warnings": 0,
    }
    main(["policy", "list", str(tmp_path)])
    assert capsys.readouterr().out.splitlines()[1].split() == [
        NAME, "active", "gpu.xid", "isolate,", "replace_node,", "resume_job", "2", "examples",
    ]  # fmt: skip


def test_an_event_in_a_few_words_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path)
    put(tmp_path, name="other", when='event.kind == "gpu.lost"', examples=[])
    file = tmp_path / "event.json"
    file.write_text('{"kind": "gpu.xid", "attributes": {"xid": 79}}')
    assert main(["policy", "explain", "--event", str(file), "--policies", str(tmp_path)]) == 0
    source, *lines = capsys.readouterr().out.splitlines()
    assert source.startswith("judged by 2 policies in files, ")
    assert lines[0].startswith("gpu.xid (xid 79), error, node, on (not given), 20")
    assert lines[1] == f"  fired         {NAME} (active, in a file)"
    assert lines[2].strip().startswith("1 of 1 occurrences on node within 30 s")
    assert lines[3].strip().startswith("→ it opens an incident (or joins the node's): after 10 s isolate → ")
    assert lines[4:] == ["  1 others ask for something else (--all)"]


def test_facts_are_stated_beside_an_event(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, unless="node.lemon_score < 60", examples=[])
    file = tmp_path / "event.json"
    file.write_text('{"kind": "gpu.xid", "attributes": {"xid": 79}}')
    asked = ["policy", "explain", "--event", str(file), "--policies", str(tmp_path), "--fact"]
    assert main([*asked, "node.lemon_score=20", "--fact", "facts.age_seconds=2"]) == 0
    assert "facts (2 s old): node.lemon_score is 20" in capsys.readouterr().out
    assert main([*asked, "node.lemon_score=high"]) == 2
    assert "node.lemon_score is a whole number, not 'high'" in capsys.readouterr().err
    assert main([*asked, "node.lemonscore=1"]) == 2
    assert "there is no fact 'node.lemonscore'" in capsys.readouterr().err


def test_the_driver_of_an_event_in_a_few_words_is_stated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, unless='node.driver_version.startsWith("570.")', examples=[])
    file = tmp_path / "event.json"
    file.write_text('{"kind": "gpu.xid", "attributes": {"xid": 79}}')
    asked = ["policy", "explain", "--event", str(file), "--policies", str(tmp_path)]
    assert main([*asked, "--driver-version", "570.148.08"]) == 0
    assert 'node.driver_version is "570.148.08"' in capsys.readouterr().out
    assert main(asked) == 0
    assert f"fired         {NAME}" in capsys.readouterr().out


def test_all_policies_or_one_are_told_on_demand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path)
    put(tmp_path, name="other", when='event.kind == "gpu.lost"', examples=[])
    words = ["policy", "explain", "--event", "-", "--policies", str(tmp_path)]
    monkeypatch.setattr("sys.stdin", io.StringIO('{"kind": "gpu.held"}'))
    main([*words, "--all"])
    assert capsys.readouterr().out.count("  no_match ") == 2
    monkeypatch.setattr("sys.stdin", io.StringIO('{"kind": "gpu.held"}'))
    main([*words, "--policy", "other", "--json"])
    (told,) = shown(capsys)["events"]
    assert [each["policy"] for each in told["policies"]] == ["other"]
    assert told["policies"][0]["reason"] == '`event.kind == "gpu.lost"` is false: event.kind is "gpu.held"'


def test_a_nodes_state_says_what_was_counted_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    known = evaluate([delivery(event())], state="", rulebook=rules(policy(name=NAME)), now=NOW).state
    (tmp_path / "state.json").write_text(known)
    (tmp_path / "event.json").write_text(envelope(event(1, 5), sent=5).to_json())
    put(tmp_path)
    words = ["policy", "explain", "--event", str(tmp_path / "event.json"), "--policies", str(tmp_path)]
    assert main([*words, "--state", str(tmp_path / "state.json"), "--json"]) == 0
    (told,) = shown(capsys)["events"]
    assert told["policies"][0]["outcome"] == "told_already"
    assert told["moment"].startswith(at(5).strftime("%Y-%m-%dT%H:%M:%S"))


@pytest.mark.parametrize(
    ("event_text", "state", "told"),
    [
        ("{", "", "is no JSON"),
        ('{"kind": "gpu.xud"}', "", "event 1: kind"),
        ('{"kind": "gpu.xid"}', "junk", "the state cannot be read"),
    ],
)
def test_what_cannot_be_explained_is_told_with_its_next_step(
    event_text: str, state: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path)
    file = tmp_path / "event.json"
    file.write_text(event_text)
    (tmp_path / "state.json").write_text(state)
    words = ["policy", "explain", "--event", str(file), "--policies", str(tmp_path)]
    assert main([*words, *(["--state", str(tmp_path / "state.json")] if state else [])]) == 1
    assert told in capsys.readouterr().err


def test_a_policy_that_is_not_there_is_refused_with_the_nearest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put(tmp_path)
    (tmp_path / "event.json").write_text('{"kind": "gpu.xid", "attributes": {"xid": 79}}')
    words = ["policy", "explain", "--event", str(tmp_path / "event.json"), "--policies", str(tmp_path), "--policy"]
    assert main([*words, "nope"]) == 1
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "relight policy: there is no policy nope. `relight policy list` names them.\n")
    assert main([*words, "lost-gpus"]) == 1
    assert f"Did you mean {NAME}?" in capsys.readouterr().err


def test_explaining_by_no_policy_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "event.json").write_text('{"kind": "gpu.xid"}')
    put(tmp_path, evidence="sticky")
    words = ["policy", "explain", "--event", str(tmp_path / "event.json"), "--policies", str(tmp_path)]
    assert main(words) == 1
    told = capsys.readouterr().err
    assert "left out: evidence: 'sticky' is not known." in told
    assert "there is no policy here" in told

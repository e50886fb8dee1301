"""`relight policy set-mode`: one policy's mode through the guard, and the end of the shadow it put itself in."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from console.main import main
from console.policy.answering import Answer
from console.policy.mode_setting import Wish, set_mode
from console.policy.yaml_writing import as_yaml
from functions.adapters.policies import DynamoPolicies
from functions.adapters.switches import DynamoSwitches
from functions.guard.guard import Guard
from functions.ports.policies import EditedMeanwhileError
from functions.twins.notices import MemoryNotices
from functions.twins.triage import MemoryTelemetry
from policies.coordination.switches import SelfShadow
from policies.yaml_text import read_yaml
from tests.tools.envelopes import NOW, SHIPPED
from tests.tools.policy_table import push
from tests.tools.tables import create_policies_table

NAME = "xid-79-fell-off-the-bus"
SHADOW = SelfShadow(policy=NAME, cluster="west", incident="4be1", since=NOW, why="acted 6 times within 1h")


@dataclass
class Desk:
    """A table with one active policy. The guard looks at each ``pause`` while it is ``awake``."""

    policies: DynamoPolicies
    switches: DynamoSwitches
    now: datetime = NOW
    awake: bool = True
    seen: list[str] = field(default_factory=list)
    answer: Answer = field(default_factory=lambda: Answer("set-mode"))

    def judge(self) -> None:
        Guard(self.policies, MemoryNotices(), MemoryTelemetry(), lambda: NOW).look_at(NAME)

    def pause(self, seconds: float) -> None:
        self.seen.append(self.why_not)
        self.now += timedelta(seconds=seconds)
        if self.awake:
            self.judge()

    def set(self, mode: str, reason: str = "") -> int:
        self.answer = Answer("set-mode")
        wish = Wish(NAME, mode, "kim", reason)
        return set_mode(self.policies, wish, self.answer, clock=lambda: self.now, pause=self.pause)

    @property
    def why_not(self) -> str:
        return self.switches.read([NAME]).why_not(NAME)


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    with mock_aws():
        client = boto3.client("dynamodb")
        create_policies_table(client)
        monkeypatch.setenv("POLICIES_TABLE", "policies")
        made = Desk(DynamoPolicies(client, "policies"), DynamoSwitches(client, "policies"))
        document = read_yaml((SHIPPED / f"{NAME}.yaml").read_text())
        assert isinstance(document, dict)
        push(made.policies, [{**document, "mode": "active"}], edited_by="anna", now=NOW)
        made.judge()
        yield made


def test_the_list_and_the_policy_say_that_it_put_itself_in_shadow(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.policies.self_shadows.put(SHADOW)
    assert main(["policy", "list"]) == 0
    assert f"accepted; shadow: {SHADOW.told}" in capsys.readouterr().out
    assert main(["policy", "list", "--json"]) == 0
    assert f'"self_shadow": "{SHADOW.told}"' in capsys.readouterr().out
    assert main(["policy", "show", NAME]) == 0
    assert "it put itself in shadow" in capsys.readouterr().out


def test_active_ends_the_shadow_of_a_policy_whose_item_says_active_already(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.policies.self_shadows.put(SHADOW)
    before = desk.policies.live(NAME)
    assert desk.set("active", "the image was bad") == 0
    assert desk.why_not == ""
    assert desk.policies.live(NAME) == before
    lifted = desk.policies.self_shadows.find(NAME)
    assert lifted
    assert (lifted.lifted_by, lifted.lifted_why, lifted.lifted_at) == ("kim", "the image was bad", NOW)
    capsys.readouterr()
    assert [main(["policy", "show", NAME]), main(["policy", "show", NAME, "--json"])] == [0, 0]
    shown = capsys.readouterr().out
    assert ("put itself in shadow" in shown, '"self_shadow": null' in shown) == (False, True)


def test_the_mode_is_edited_as_a_push_does_and_judged(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    assert desk.set("shadow", "we look first") == 0
    assert desk.why_not == f"policy {NAME} is in shadow"
    live = desk.policies.live(NAME)
    assert live
    assert (live["mode"], live["edited_by"], live["edit_reason"]) == ("shadow", "kim", "we look first")
    assert f"{NAME}: shadow, revision 2." in capsys.readouterr().out


def test_who_arms_a_policy_hears_what_lint_warns_of_and_where_it_is_tried(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    live = desk.policies.live(NAME)
    assert live
    idle = {key: value for key, value in live.items() if key not in {"examples", "limits", "settle"}}
    desk.policies.put_live({**idle, "mode": "shadow", "do": ["requeue_job"]})
    desk.judge()
    assert desk.set("active") == 0
    told = capsys.readouterr().out
    assert f"{NAME}: L313 warning: do: requeue_job is carried out by nobody yet" in told
    assert "`relight policy report`" in told
    assert "L313" in [one["code"] for one in desk.answer.policies[NAME]["warnings"]]
    for mode in ("active", "shadow"):
        assert desk.set(mode) == 0
        assert capsys.readouterr().out.count("L313") + len(desk.answer.policies[NAME].get("warnings", ())) == 0


def test_on_the_way_from_its_own_shadow_to_off_it_never_acts(desk: Desk) -> None:
    desk.policies.self_shadows.put(SHADOW)
    assert desk.set("off") == 0
    assert desk.seen
    assert all(desk.seen)
    assert desk.why_not == f"policy {NAME} is off"
    assert desk.policies.self_shadows.all() == {}


def test_while_the_guard_says_nothing_the_shadow_stays(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.policies.self_shadows.put(SHADOW)
    desk.awake = False
    assert desk.set("off") == 1
    assert "not judged yet" in capsys.readouterr().err
    assert desk.policies.self_shadows.all() == {NAME: SHADOW}


def test_an_item_that_is_refused_as_it_stands_ends_nothing(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.policies.self_shadows.put(SHADOW)
    live = desk.policies.live(NAME)
    assert live
    desk.policies.put_live({**live, "deadline": "soon"})
    assert desk.set("active") == 1
    assert "was refused as it stands" in capsys.readouterr().err
    assert desk.policies.self_shadows.all() == {NAME: SHADOW}


@pytest.mark.parametrize("mode", ["off", "shadow"])
def test_power_is_taken_where_the_item_is_refused_for_something_else(
    desk: Desk, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.policies.self_shadows.put(SHADOW)
    live = desk.policies.live(NAME)
    assert live
    desk.policies.put_live({**live, "deadline": "soon"})
    assert [desk.set(mode), desk.set(mode)] == [0, 0]
    head = desk.policies.head(NAME)
    assert head
    assert head.mode == mode
    shown = capsys.readouterr()
    assert f"{NAME}: {mode}, revision 2." in shown.out
    assert "The rest of its item stays refused; what was accepted last goes on. deadline: 'soon' is not" in shown.out
    assert f"relight policy rollback {NAME} --to 2" in shown.out
    assert shown.err == ""
    assert desk.policies.self_shadows.all() == {}
    assert desk.answer.document(0)["policies"][0]["verdict"]["mode"] == mode
    assert "stays refused" in desk.answer.left[0]
    assert desk.set("active") == 1, "to give power back the item must be sound"
    assert "refused as it stands, and its mode with it" in capsys.readouterr().err


def test_who_edits_while_the_mode_is_set_loses_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    live, look = desk.policies.live(NAME), desk.policies.live
    assert live

    def meanwhile(name: str) -> Mapping[str, Any] | None:
        found = look(name)
        desk.policies.put_live({**live, "settle": "33s"})
        return found

    monkeypatch.setattr(desk.policies, "live", meanwhile)
    with pytest.raises(EditedMeanwhileError):
        desk.set("shadow")
    there = look(NAME)
    assert there
    assert (there["mode"], there["settle"]) == ("active", "33s")


def test_a_policy_whose_mode_is_set_is_still_pushed_from_its_folder(desk: Desk) -> None:
    """Or the next push from there, and its --prune, would know nothing of it."""
    pushed = desk.policies.live(NAME)
    assert pushed
    desk.policies.put_live({**pushed, "pushed": {"from": "ours", "hash": "0" * 32}})
    assert desk.set("shadow") == 0
    live = desk.policies.live(NAME)
    assert live
    assert live["pushed"] == {"from": "ours", "hash": "0" * 32}


@pytest.mark.parametrize("words", [[], ["--mode", "keep"], ["--mode", "active"]])
def test_no_push_ends_the_shadow_that_a_policy_put_itself_in(desk: Desk, words: list[str], tmp_path: Path) -> None:
    desk.policies.self_shadows.put(SHADOW)
    document = read_yaml((SHIPPED / f"{NAME}.yaml").read_text())
    assert isinstance(document, dict)
    file = tmp_path / f"{NAME}.yaml"
    file.write_text(as_yaml({**document, "mode": "active", "settle": "33s"}))
    assert main(["policy", "push", str(file), "--force", *words]) == 0
    desk.judge()
    head = desk.policies.head(NAME)
    assert head
    assert (head.revision, head.mode) == (2, "active")
    assert desk.policies.self_shadows.all() == {NAME: SHADOW}
    assert SHADOW.why in desk.why_not


def test_again_is_the_same(desk: Desk) -> None:
    assert [desk.set("shadow"), desk.set("shadow")] == [0, 0]
    head = desk.policies.head(NAME)
    assert head
    assert head.revision == 2


@pytest.mark.parametrize("mode", ["active", "shadow", "off"])
def test_a_policy_whose_item_was_deleted_is_not_called_unknown(
    desk: Desk, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """`relight policy list` shows it still, as off: whoever is sent there to look is sent in a circle."""
    boto3.client("dynamodb").delete_item(TableName="policies", Key={"name": {"S": NAME}, "sk": {"S": "live"}})
    assert desk.set(mode) == 1, "the guard has not looked: it acts still"
    assert "not judged yet" in capsys.readouterr().err
    desk.judge()
    assert desk.set(mode) == (0 if mode == "off" else 1)
    told = capsys.readouterr()
    assert "was deleted" in told.out + told.err
    assert f"`relight policy rollback {NAME}` brings it back" in told.out + told.err
    assert desk.answer.document(0)["policies"] == [{"name": NAME, "written": False, "mode": mode}]
    assert main(["policy", "show", NAME]) == 0
    shown = capsys.readouterr().out
    assert ("\nmode: off\n" in shown, "\nmode: active\n" in shown) == (True, False), "as it is in force"
    assert f"# the item: deleted: `relight policy rollback {NAME}` brings it back." in shown
    for words in (["show", NAME], ["show", NAME, "--revision", "2"]):
        assert main(["policy", *words, "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        in_force = told["in_force"] if isinstance(told["in_force"], dict) else told
        assert (in_force["mode"], in_force["document"]["mode"]) == ("off", "off")


@pytest.mark.parametrize("mode", ["active", "shadow"])
def test_whoever_makes_a_policy_active_hears_that_nothing_acts(
    desk: Desk, mode: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["policy", "stop", "--reason", "a bad image", "--edited-by", "kim"]) == 0
    capsys.readouterr()
    assert desk.set(mode) == 0
    line = "NOTHING ACTS: everything is stopped by kim: a bad image. `relight policy start` ends that."
    assert (line in capsys.readouterr().out, line in desk.answer.left) == (mode == "active", mode == "active")
    assert main(["policy", "show", NAME]) == 0
    assert capsys.readouterr().out.startswith(f"# {line}\n")
    assert main(["policy", "start"]) == 0
    capsys.readouterr()
    assert desk.set("active") == 0
    assert main(["policy", "show", NAME]) == 0
    assert "NOTHING ACTS" not in capsys.readouterr().out


def test_an_unknown_policy_is_told(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "set-mode", "nope", "active"]) == 1
    assert "there is no policy nope" in capsys.readouterr().err


def test_the_command_does_it(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.policies.self_shadows.put(SHADOW)
    assert main(["policy", "set-mode", NAME, "active", "--reason", "seen to", "--edited-by", "kim"]) == 0
    assert "It had put itself in shadow" in capsys.readouterr().out
    assert main(["policy", "set-mode", NAME, "off", "--wait", "0"]) == 1
    assert "not judged yet" in capsys.readouterr().err

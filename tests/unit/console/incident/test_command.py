import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.incident.document import whole
from console.incident.parts import IncidentError
from functions.acts.act import ActContext
from policies.contract.decisions import RungReport
from policies.contract.rungs import Rung
from policies.contract.vocabulary import PolicyMode
from policies.coordination.states import IncidentStatus
from tests.tools.fleet_acts import Does
from tests.tools.incidents import CLUSTER, POLICY, at, finding, findings, plan
from tests.unit.console.incident.desk import Desk

NO_CAPACITY = "cannot launch a successor: no capacity in us-east-1a"


def fails(context: ActContext) -> RungReport:
    return context.failed(NO_CAPACITY)


def parked() -> Desk:
    """A node whose run is stopped and whose instance could not be replaced."""
    desk = Desk({Rung.REPLACE_NODE: Does(fails)})
    desk.break_node()
    return desk.after(300)


def shown(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "220")


def test_nothing_open_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert Desk().run("list") == 0
    assert capsys.readouterr().out == "No incident is open.\n"


def test_open_ones_are_listed_and_closed_ones_on_demand(capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk()
    desk.break_node("i-1")
    desk.break_node("i-2", after=590)
    desk.after(600)
    desk.run("list", "--json")
    assert [each["instance"] for each in shown(capsys)["incidents"]] == ["i-2"]
    desk.run("list", "--closed", "--json")
    assert [each["outcome"] for each in shown(capsys)["incidents"]] == [None, "replaced"]
    desk.run("list")
    table = capsys.readouterr().out
    assert desk.incident("i-2").id[:12] in table
    assert "settling" in table
    assert "node-i-2 (i-2)" in table


@pytest.mark.parametrize("words", [["--node", "i-nosuch"], ["--node", "no-such.internal"], ["--job", "train/nosuch"]])
def test_a_node_or_a_run_that_no_incident_was_about_is_told_as_such(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Desk()
    desk.break_node("i-1")
    desk.after(600)
    assert desk.run("list", *words) == 0
    told = capsys.readouterr().out
    assert told.startswith("No incident is open.\n")
    assert f"No incident has ever been about '{words[1]}'" in told
    for known in (["--node", "i-1"], ["--node", "node-i-1"], ["--job", "train/llm"]):
        desk.run("list", *known)
        assert capsys.readouterr().out == "No incident is open.\n", "it is closed"


@pytest.mark.parametrize(
    ("words", "nodes"),
    [
        (["--node", "i-1"], ["i-1"]),
        (["--node", "node-i-2"], ["i-2"]),
        (["--job", "train/llm"], ["i-2", "i-1"]),
        (["--job", "other"], []),
        (["--cluster", CLUSTER], ["i-2", "i-1"]),
    ],
)
def test_the_list_is_narrowed(words: list[str], nodes: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk()
    desk.break_node("i-1")
    desk.break_node("i-2", after=5)
    desk.after(10)
    desk.run("list", "--json", *words)
    assert [each["instance"] for each in shown(capsys)["incidents"]] == nodes


def test_an_unknown_cluster_names_those_there_are() -> None:
    with pytest.raises(IncidentError, match="There are: west"):
        Desk().run("list", "--cluster", "east")


def test_a_parked_incident_shows_all_that_a_person_needs(capsys: pytest.CaptureFixture[str]) -> None:
    desk = parked()
    incident = desk.incident()
    assert desk.run("show", incident.id[:6]) == 0
    text = capsys.readouterr().out
    for piece in (
        incident.id,
        "node-i-1 (i-1)",
        "train/llm, rank 3",
        f"{POLICY}, revision 3",
        "GPU has fallen off the bus",
        f"reason     replace_node failed: {NO_CAPACITY}",
        f"execution  {incident.execution} (attempt 1)",
        "done       isolate, collect_evidence, suspend_job",
        "to come    page_operator",
        "describe-auto-scaling-instances --instance-ids i-1",
        "parked",
        "terminate-instance-in-auto-scaling-group --instance-id i-1",
        "kubectl uncordon node-i-1",
        "kubectl -n train patch pytorchjob llm",
        f"relight incident close {incident.id[:12]}",
    ):
        assert piece in text, piece
    assert "token" not in text


def test_a_resumed_run_shows_its_checkpoint_and_those_refused(capsys: pytest.CaptureFixture[str]) -> None:
    refused = [{"step": 950, "reason": "rank 3 is missing"}]
    choice = Does(lambda context: context.done(chosen_step=900, checkpoint="s3://c/900", refused=refused))
    desk = Desk({Rung.CHOOSE_CHECKPOINT: choice})
    desk.break_node()
    desk.after(600).run("show", desk.incident().id, "--json")
    document = shown(capsys)
    assert (document["facts"]["chosen_step"], document["refused"]) == (900, refused)
    assert document["timeline"][0] == {**document["timeline"][0], "stage": "seen", "seconds": 0.0}
    assert [entry["stage"] for entry in document["timeline"]][-1] == "closed"
    assert document["to_come"] == []
    assert document["holds"] == []
    assert document["next"] == ["Nothing."]
    desk.run("show", desk.incident().id)
    assert "refused step 950: rank 3 is missing" in capsys.readouterr().out


def test_an_id_names_one_alone() -> None:
    desk = Desk()
    for node in range(40):
        desk.break_node(f"i-{node}")
    desk.after(10)
    ids = [each.id for each in desk.world.store.all_incidents()]
    double = next(one[0] for one in ids if sum(other[0] == one[0] for other in ids) > 1)
    with pytest.raises(IncidentError, match="Give more of the id"):
        desk.run("show", double)
    with pytest.raises(IncidentError, match="has an id like 'zz'"):
        desk.run("show", "zz")
    with pytest.raises(IncidentError, match="there is no incident"):
        desk.run("show", "0" * 32)
    with pytest.raises(IncidentError):
        desk.run("show", "")


def test_closing_waits_for_coordinate_and_says_what_it_means(capsys: pytest.CaptureFixture[str]) -> None:
    desk = parked()
    assert desk.run("close", desk.incident().id[:8], "--reason", "board changed", "--by", "kim", "--yes") == 0
    told = capsys.readouterr()
    assert "is closed: by kim: board changed" in told.out
    for piece in (
        "the lease of i-1#0",
        "its hold on run train/llm",
        "the cordon and the taint of node node-i-1",
        "run train/llm, which stays stopped",
    ):
        assert piece in told.err, piece
    assert desk.incident().status is IncidentStatus.CLOSED
    assert desk.slept
    assert desk.run("close", desk.incident().id, "--reason", "again", "--yes") == 0
    assert len(desk.closings.sent) == 1


def test_a_close_as_json_says_what_was_released_and_what_was_left(capsys: pytest.CaptureFixture[str]) -> None:
    desk = parked()
    desk.run("close", desk.incident().id, "--reason", "r", "--yes", "--json")
    document = shown(capsys)
    assert (document["status"], len(document["released"]), len(document["left"])) == ("closed", 2, 3)


def test_a_coordinate_that_does_not_answer_is_not_waited_for_for_ever() -> None:
    desk = parked()
    desk.closings.deaf = True
    with pytest.raises(IncidentError, match=r"not closed after 20 s.*dlq show decisions-dlq"):
        desk.run("close", desk.incident().id, "--reason", "r", "--yes", "--wait", "20")
    assert 39 <= len(desk.slept) <= 41


def test_without_a_person_and_without_yes_nothing_is_sent(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = parked()
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert desk.run("close", desk.incident().id, "--reason", "r") == 2
    assert "say --yes" in capsys.readouterr().err
    assert not desk.closings.sent


class _Person(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "status", "sent"), [("n\n", 1, 0), ("\n", 1, 0), ("y\n", 0, 1)])
def test_a_person_is_asked(answer: str, status: int, sent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = parked()
    monkeypatch.setattr("sys.stdin", _Person(answer))
    assert desk.run("close", desk.incident().id, "--reason", "r") == status
    assert len(desk.closings.sent) == sent


@pytest.mark.parametrize("reason", ["", "  "])
def test_a_close_has_a_reason(reason: str) -> None:
    with pytest.raises(SystemExit):
        Desk().run("close", "4be1", "--reason", reason)


def test_what_a_switch_stopped_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk()
    desk.break_node()
    desk.world.after(24, lambda: desk.world.set_mode(PolicyMode.OFF))
    desk.after(120).run("show", desk.incident().id, "--json")
    document = shown(capsys)
    assert "is off: stopped at replace_node" in document["reason"]
    assert document["next"][0].startswith("Its policy was turned off in mid-incident.")
    assert not any("describe-auto-scaling-instances" in step for step in document["next"])


@settings(max_examples=60, deadline=None)
@given(moment=st.floats(0, 200), broken=st.sampled_from([None, *Rung]), off=st.floats(0, 200))
def test_every_incident_at_every_moment_can_be_shown(moment: float, broken: Rung | None, off: float) -> None:
    desk = Desk({broken: Does(fails)} if broken else None)
    desk.break_node()
    desk.world.after(off, lambda: desk.world.set_mode(PolicyMode.OFF))
    desk.after(moment)
    for incident in desk.world.store.all_incidents():
        document = whole(incident)
        assert json.loads(json.dumps(document)) == document
        assert document["next"]
        assert incident.status is not IncidentStatus.PARKED or "incident close" in document["next"][-1]


def test_what_nobody_acts_on_says_how_often_and_until_when(capsys: pytest.CaptureFixture[str]) -> None:
    desk = Desk()
    policy = plan(mode=PolicyMode.SHADOW)
    for number in range(90):
        told = finding(name=f"f{number}", policy=policy, seen=at(number * 60))
        desk.world.send(findings(told), after=number * 60 + 1)
    desk.after(6000)
    desk.run("show", desk.incident("i-1").id)
    assert f"again      {POLICY} gpu.xid: 90 times from 2026-03-01 10:00:00 until 2026-03-01 11:29:00 UTC" in (
        capsys.readouterr().out
    )

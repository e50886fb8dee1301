"""handle-incident's definition: every wait ends, every task has deadline, retry and catch, every state is reached."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from policies.contract.decisions import AskMessage, RungRequest, parse_message
from policies.contract.rungs import Executor, Rung
from tests.tools.asl import ExecutionFailed, Invoke, Nap, Player, Send, TaskError

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "infra" / "asl" / "handle-incident.asl.json").read_text()
ASL: dict[str, Any] = json.loads(TEXT)
STATES: dict[str, dict[str, Any]] = ASL["States"]
TASKS = {name: state for name, state in STATES.items() if state["Type"] == "Task"}
FILLED = {f"{executor.capitalize()}FunctionArn" for executor in Executor} | {"DecisionsQueueUrl"}
INPUT = {"cluster": "west", "incident": "abc", "attempt": 2}


def leads_to(state: dict[str, Any]) -> Iterator[str]:
    yield from (state[key] for key in ("Next", "Default") if key in state)
    yield from (each["Next"] for key in ("Choices", "Catch") for each in state.get(key, ()))


@pytest.mark.parametrize("name", TASKS)
def test_a_task_has_a_deadline_retries_and_a_catch(name: str) -> None:
    task = TASKS[name]
    assert 0 < task["TimeoutSeconds"] <= 150
    assert all(0 <= rule["MaxAttempts"] <= 10 for rule in task["Retry"])
    assert task["Retry"][-1]["ErrorEquals"] == task["Catch"][-1]["ErrorEquals"] == ["States.ALL"]
    assert task["Retry"][-1]["MaxDelaySeconds"] <= 60
    assert task["Catch"][-1]["ResultPath"] == "$.caught"
    if "waitForTaskToken" in task["Resource"]:
        assert task["HeartbeatSeconds"] < task["TimeoutSeconds"]


def test_every_state_is_reached_and_every_way_leads_somewhere() -> None:
    reached, ahead = set(), [ASL["StartAt"]]
    while ahead:
        name = ahead.pop()
        if name not in reached:
            reached.add(name)
            ahead.extend(leads_to(STATES[name]))
    assert reached == set(STATES)


def test_the_whole_has_a_deadline() -> None:
    assert ASL["TimeoutSeconds"] <= 86400


def test_every_executor_of_the_contract_has_its_task() -> None:
    choices = {each["StringEquals"]: each["Next"] for each in STATES["Choose"]["Choices"]}
    assert set(choices) == set(Executor)
    assert {STATES[task]["Type"] for task in choices.values()} == {"Task"}


def test_only_known_gaps_are_left_to_fill() -> None:
    gaps = {part.split("}")[0] for part in TEXT.split("${")[1:]}
    assert gaps == FILLED


def test_a_wait_reads_seconds_that_the_contract_bounds_and_rounds() -> None:
    waits = {state["SecondsPath"] for state in STATES.values() if state["Type"] == "Wait"}
    assert waits == {"$.answer.wait_seconds", "$.result.report.wait_seconds"}


class Run:
    """An execution by hand: `sent` takes the next message, `asked` the next call."""

    def __init__(self) -> None:
        self.player = Player(ASL, "abc-2", [])
        self._steps = self.player.play(INPUT)
        self._wanted: Nap | Invoke | Send = next(self._steps)

    def ask(self) -> AskMessage:
        assert isinstance(self._wanted, Send)
        message = parse_message(json.dumps(self._wanted.body))
        assert isinstance(message, AskMessage)
        assert self._wanted.group == message.cluster
        return message

    def request(self) -> RungRequest:
        assert isinstance(self._wanted, Invoke)
        return RungRequest.model_validate(self._wanted.payload)

    def nap(self) -> int:
        assert isinstance(self._wanted, Nap)
        return self._wanted.seconds

    def go(self, value: object = None) -> None:
        self._wanted = self._steps.send(value)

    def throw(self, name: str) -> None:
        self._wanted = self._steps.throw(TaskError(name))

    def act(self, step: int = 1) -> None:
        self.go({"verdict": "act", "step": step, "rung": "isolate", "executor": "kubernetes", "fence": 7})


def test_the_first_ask_brings_no_report() -> None:
    message = Run().ask()
    assert (message.incident, message.attempt, message.step, message.report) == ("abc", 2, 0, None)
    assert message.task_token == "abc-2/1"


def test_an_act_is_asked_of_its_executor_with_its_fence() -> None:
    run = Run()
    run.act()
    assert run.request() == RungRequest(cluster="west", incident="abc", attempt=2, rung=Rung.ISOLATE, fence=7, polls=0)


def test_a_done_report_comes_with_the_next_ask() -> None:
    run = Run()
    run.act(step=5)
    run.go({"rung": "isolate", "status": "done", "at": "2026-03-01T10:00:00Z", "outcome": {"a": 1}})
    message = run.ask()
    assert message.step == 5
    assert message.report
    assert message.report.outcome == {"a": 1}


def test_a_waiting_rung_is_looked_at_again_and_after_twenty_looks_coordinate_is_asked() -> None:
    run = Run()
    run.act()
    waiting = {"rung": "isolate", "status": "waiting", "at": "2026-03-01T10:00:00Z", "wait_seconds": 3}
    for look in range(20):
        assert run.request().polls == look
        run.go(waiting)
        assert run.nap() == 3
        run.go()
    run.go(waiting)
    assert run.ask().report


def test_an_executor_that_breaks_is_retried_and_then_told() -> None:
    run = Run()
    run.act()
    for expected in (2, 4, 8, 16):
        run.throw("Lambda.ServiceException")
        assert run.nap() == expected
        run.go()
    run.throw("Lambda.ServiceException")
    assert run.ask().error == "isolate failed with Lambda.ServiceException"


def test_bad_input_is_not_retried() -> None:
    run = Run()
    run.act()
    run.throw("BadInputError")
    assert run.ask().error == "isolate failed with BadInputError"


def test_an_unknown_executor_is_told() -> None:
    run = Run()
    run.go({"verdict": "act", "step": 1, "rung": "isolate", "executor": "slurm", "fence": 7})
    assert run.ask().error == "nobody is called slurm: redeploy"


def test_a_lost_answer_is_asked_for_again_under_a_new_token() -> None:
    run = Run()
    run.throw("States.Timeout")
    assert run.nap() == 2
    run.go()
    assert (run.ask().step, run.ask().task_token) == (0, "abc-2/2")


def test_a_wait_is_kept_and_then_asked_again() -> None:
    run = Run()
    run.go({"verdict": "wait", "step": 1, "wait_seconds": 20})
    assert run.nap() == 20
    run.go()
    assert run.ask().step == 1


@pytest.mark.parametrize("verdict", ["merged", "stand_down", "wait_approval", "parked", "closed", "fenced"])
def test_every_other_verdict_ends_it(verdict: str) -> None:
    run = Run()
    with pytest.raises(StopIteration):
        run.go({"verdict": verdict, "step": 1})
    assert run.player.visits[-1] == "Ended"


def test_coordinate_that_never_answers_ends_it_as_failed() -> None:
    run = Run()
    for _ in range(8):
        run.throw("States.Timeout")
        run.go()
    with pytest.raises(ExecutionFailed, match="CoordinateSilent"):
        run.throw("States.Timeout")

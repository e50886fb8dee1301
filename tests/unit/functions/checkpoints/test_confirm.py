import json
from datetime import timedelta

import pytest

from functions.acts.support import Pace
from functions.checkpoints.confirm import ConfirmResume
from functions.twins.objects import MemoryObjects
from policies.contract.rungs import RungStatus
from policies.contract.times import format_time
from tests.tools.act_contexts import BUCKET, PLACE, START, Clock, Drive
from tests.tools.dcp_files import dcp_step

FACTS = {"chosen_step": 20, "checkpoints": PLACE, "resumed_at": format_time(START)}


class World:
    def __init__(self) -> None:
        self.clock = Clock()
        self.objects = MemoryObjects(self.clock)
        self.save(20, -600)
        self.save(30, -300)  # torn or not, it was there before
        self.clock.move(30)

    def save(self, step: int, after: float) -> None:
        for name, body in dcp_step().items():
            self.objects.put(BUCKET, f"run-7/step-{step}/{name}", body, START + timedelta(seconds=after))

    def report(self, body: object, after: float = 20) -> None:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.objects.put(BUCKET, "run-7/relight-progress.json", raw, START + timedelta(seconds=after))

    def drive(self, **facts: object) -> Drive:
        act = ConfirmResume(objects=self.objects, pace=Pace())
        return Drive(act, self.clock, node="i-a", facts=facts or FACTS)


@pytest.fixture
def world() -> World:
    return World()


def test_nothing_is_confirmed_by_what_was_there_before(world: World) -> None:
    world.report({"step": 33}, after=-60)
    report = world.drive()()
    assert (report.status, report.reason) == (RungStatus.WAITING, "no step past 20 was reported since the restart")


def test_a_reported_step_past_the_chosen_one_confirms(world: World) -> None:
    world.report({"step": 21, "resumed_from": 20, "at": "whatever"})
    assert world.drive()().outcome == {"confirmed_step": 21, "confirmed_by": "relight-progress.json"}


def test_the_chosen_step_itself_is_loaded_but_not_yet_past(world: World) -> None:
    world.report({"step": 20, "resumed_from": 20})
    assert world.drive()().status is RungStatus.WAITING


def test_a_newer_checkpoint_confirms_without_a_word_from_the_job(world: World) -> None:
    world.save(40, 20)
    assert world.drive()().outcome == {"confirmed_step": 40, "confirmed_by": "step-40"}


def test_a_refused_step_that_is_saved_anew_confirms(world: World) -> None:
    world.save(30, 20)
    assert world.drive()().outcome["confirmed_step"] == 30


@pytest.mark.parametrize("told", [{"step": 3}, {"step": 25, "resumed_from": 0}])
def test_a_job_that_did_not_load_the_chosen_step_fails(world: World, told: dict[str, int]) -> None:
    world.report(told)
    report = world.drive()()
    assert report.status is RungStatus.FAILED
    assert "behind the chosen step 20: the job did not load it" in report.reason


@pytest.mark.parametrize("told", [b"\xff", [], {"step": "many"}, {}])
def test_a_progress_object_that_says_nothing_is_ignored(world: World, told: object) -> None:
    world.report(told)
    assert world.drive()().status is RungStatus.WAITING
    world.save(40, 20)
    assert world.drive()().outcome["confirmed_step"] == 40


def test_silence_fails_at_the_deadline(world: World) -> None:
    report = world.drive().until_done(step_seconds=60)
    assert report.status is RungStatus.FAILED
    assert "no step past 20 was reported since the restart, still so at the deadline" in report.reason


def test_what_was_never_resumed_cannot_be_confirmed(world: World) -> None:
    assert world.drive(chosen_step=20).__call__().status is RungStatus.FAILED


@pytest.mark.parametrize("body", [b'{"step": Infinity}', b'{"step": NaN}', b"[" * 100_000, b'{"step": 1e400}'])
def test_a_progress_object_of_rubbish_says_nothing(world: World, body: bytes) -> None:
    world.report(body)
    assert world.drive()().status is RungStatus.WAITING

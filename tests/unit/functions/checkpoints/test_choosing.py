from datetime import timedelta

import pytest

from functions.acts.support import Pace
from functions.checkpoints.choosing import ChooseCheckpoint, Quiet
from functions.twins.objects import MemoryObjects
from policies.contract.events import JobRef
from policies.contract.rungs import RungStatus
from policies.contract.vocabulary import Kind, Severity, Source
from policies.coordination.notes import FindingNote
from tests.tools.act_contexts import BUCKET, PLACE, START, Clock, Drive
from tests.tools.dcp_files import dcp_step

QUIET = Quiet(seconds=15, patience=60)


class World:
    def __init__(self) -> None:
        self.clock = Clock()
        self.objects = MemoryObjects(self.clock)
        for step, age in ((10, 900), (20, 600), (30, 300)):
            self.save(step, age)

    def save(self, step: int, age: float, **changes: bytes | None) -> None:
        for name, body in {
            **dcp_step(),
            **{name.replace("metadata", ".metadata"): body for name, body in changes.items()},
        }.items():
            if body is not None:
                key = f"run-7/step-{step}/{name}"
                self.objects.put(BUCKET, key, body, self.clock.now - timedelta(seconds=age))

    def drive(self, place: str = PLACE, **more: object) -> Drive:
        act = ChooseCheckpoint(objects=self.objects, pace=Pace(), quiet=QUIET)
        return Drive(act, self.clock, node="i-a", facts={"checkpoints": place}, **more)  # type: ignore[arg-type]


@pytest.fixture
def world() -> World:
    return World()


def finding(kind: Kind, seconds_ago: float, **attributes: int) -> FindingNote:
    at = START - timedelta(seconds=seconds_ago)
    return FindingNote(
        id="f",
        policy="p",
        revision=1,
        kind=kind,
        severity=Severity.ERROR,
        source=Source.KERNEL_LOG,
        first_observed_at=at,
        observed_at=at,
        attributes=dict(attributes),
    )


def test_the_newest_complete_checkpoint_is_chosen_with_the_reasons_for_newer_ones(world: World) -> None:
    world.save(40, 60, metadata=None)
    report = world.drive()()
    assert report.status is RungStatus.DONE
    assert report.outcome == {
        "chosen_step": 30,
        "checkpoint": f"{PLACE}/step-30",
        "checkpoints": PLACE,
        "layout": "torch_dcp",
        "refused": [{"step": 40, "reason": "missing .metadata: the save did not finish"}],
    }
    assert world.objects.writes == []


def test_what_is_still_being_written_is_waited_for_and_then_taken(world: World) -> None:
    world.save(40, 5)
    drive = world.drive()
    assert (drive().status, drive().reason) == (RungStatus.WAITING, "step 40 is still being written")
    assert drive.until_done().outcome["chosen_step"] == 40


def test_an_uploader_that_never_rests_is_not_waited_for_for_ever(world: World) -> None:
    drive = world.drive()
    for _ in range(12):
        world.save(40, 1)
        assert drive().status is RungStatus.WAITING
        world.clock.move(5)
    world.save(40, 1)
    report = drive()
    assert report.outcome["chosen_step"] == 30
    assert report.outcome["refused"] == [{"step": 40, "reason": "still being written"}]


@pytest.mark.parametrize(
    ("kind", "attributes"),
    [
        (Kind.GPU_XID, {"xid": 95}),
        (Kind.GPU_XID, {"xid": 140}),
        (Kind.TRAINING_LOSS_ANOMALY, {}),
        (Kind.STORAGE_LUSTRE_EVICTED, {}),
    ],
)
def test_after_corruption_one_from_before_the_evidence_is_chosen(
    world: World, kind: Kind, attributes: dict[str, int]
) -> None:
    report = world.drive(findings=(finding(kind, 400, **attributes),))()
    assert report.outcome["chosen_step"] == 20
    assert report.outcome["refused"][0]["reason"].startswith("written after the first evidence of corruption")


def test_a_gpu_that_fell_off_the_bus_corrupts_nothing(world: World) -> None:
    assert world.drive(findings=(finding(Kind.GPU_XID, 400, xid=79),))().outcome["chosen_step"] == 30


def test_a_checkpoint_that_did_not_load_does_not_make_what_was_saved_since_doubtful(world: World) -> None:
    report = world.drive(findings=(finding(Kind.TRAINING_CHECKPOINT_CORRUPT, 400),))()
    assert report.outcome["chosen_step"] == 30


def test_corruption_older_than_every_checkpoint_takes_the_oldest_and_says_so(world: World) -> None:
    outcome = world.drive(findings=(finding(Kind.GPU_XID, 5000, xid=95),))().outcome
    assert (outcome["chosen_step"], outcome["suspect"]) == (10, True)


def test_a_step_that_was_set_aside_is_passed_over(world: World) -> None:
    drive = world.drive()
    drive.facts["set_aside"] = [30]
    assert drive().outcome["chosen_step"] == 20


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("", "nobody says where the checkpoints lie"),
        ("/mnt/fsx/run", "is no place in S3"),
        ("s3://other/run", "bucket other is none of cluster train's checkpoint buckets"),
        (f"s3://{BUCKET}/elsewhere", f"no checkpoint lies under s3://{BUCKET}/elsewhere"),
    ],
)
def test_a_wrong_place_fails_and_says_what_to_do(world: World, place: str, reason: str) -> None:
    report = world.drive(place)()
    assert report.status is RungStatus.FAILED
    assert reason in report.reason


def test_when_none_is_complete_it_fails_with_the_reasons_rather_than_start_from_zero(world: World) -> None:
    torn = World()
    torn.objects = world.objects = MemoryObjects(world.clock)
    for step in (10, 20):
        torn.save(step, 600, metadata=None)
    report = torn.drive()()
    assert report.status is RungStatus.FAILED
    assert report.reason == (
        f"none of 2 checkpoints under {PLACE} is complete"
        " (newest: step 20, missing .metadata: the save did not finish); resume by hand"
    )
    assert [each["step"] for each in report.outcome["refused"]] == [20, 10]


def test_the_place_falls_back_to_the_events(world: World) -> None:
    assert world.drive("", job=JobRef(id="ml/run", checkpoint=PLACE))().outcome["chosen_step"] == 30

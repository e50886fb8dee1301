from datetime import timedelta

import pytest

from policies.contract.errors import BadInputError
from tests.tools.checkpoint_trees import NOW, chosen, reasons, under
from tests.tools.dcp_files import dcp_step

STEPS = {key: body for step in (10, 20, 30) for key, body in under(f"step-{step}", dcp_step()).items()}
AGES = {"step-10": 600.0, "step-20": 400.0, "step-30": 200.0}


def test_nothing_is_chosen_from_an_empty_place() -> None:
    choice = chosen({})
    assert (choice.chosen_step, choice.path, choice.seen) == (None, "", 0)


def test_nothing_is_chosen_when_all_are_torn_and_each_has_its_reason() -> None:
    torn = {key: body for key, body in STEPS.items() if not key.endswith(".metadata")}
    choice = chosen(torn)
    assert (choice.chosen_step, choice.seen, sorted(reasons(choice))) == (None, 3, [10, 20, 30])


def test_what_changed_just_now_is_left_alone() -> None:
    choice = chosen(STEPS, {**AGES, "step-30/__1_0.distcp": 2.0}, quiet_seconds=30.0)
    assert (choice.chosen_step, reasons(choice)) == (20, {30: "still being written"})
    assert choice.refused[0].unsettled


def test_after_corruption_the_newest_from_before_the_evidence_is_taken() -> None:
    choice = chosen(STEPS, AGES, before=NOW - timedelta(seconds=300))
    assert (choice.chosen_step, choice.suspect) == (20, False)
    assert reasons(choice) == {30: "written after the first evidence of corruption at 2026-03-01T11:55:00.000000Z"}


def test_when_all_are_younger_than_the_evidence_the_oldest_is_taken_and_marked_never_zero() -> None:
    choice = chosen(STEPS, AGES, before=NOW - timedelta(seconds=900))
    assert (choice.chosen_step, choice.suspect, sorted(reasons(choice))) == (10, True, [20, 30])


def test_a_torn_step_is_no_suspect_to_fall_back_on() -> None:
    torn = {key: body for key, body in STEPS.items() if key != "step-10/.metadata"}
    assert chosen(torn, AGES, before=NOW - timedelta(seconds=900)).chosen_step == 20


def test_a_step_whose_load_failed_is_set_aside() -> None:
    choice = chosen(STEPS, set_aside=(30,))
    assert (choice.chosen_step, reasons(choice)) == (20, {30: "set aside: loading it failed before"})


def test_numbers_are_compared_as_numbers() -> None:
    assert chosen({**under("9", dcp_step()), **under("10", dcp_step())}).chosen_step == 10


def test_step_zero_is_chosen_only_when_it_is_the_only_whole_one() -> None:
    assert chosen({**STEPS, **under("step-0", dcp_step())}).chosen_step == 30
    assert chosen(under("step-0", dcp_step())).chosen_step == 0


def test_a_layout_that_nobody_knows_is_named_with_those_that_are() -> None:
    with pytest.raises(BadInputError, match="torch_dcp"):
        chosen(STEPS, layout="zarr")


def test_a_named_layout_looks_at_nothing_else() -> None:
    assert chosen(STEPS, layout="deepspeed").seen == 0


def test_several_runs_in_one_place_are_said_to_be_so() -> None:
    choice = chosen({**under("run-a", STEPS), **under("run-b", under("step-5", dcp_step()))})
    assert choice.chosen_step == 30
    assert choice.doubts == (
        "checkpoints of 2 folders are compared by step (run-a, run-b); name one run's folder to be sure",
    )
    assert chosen(STEPS).doubts == ()

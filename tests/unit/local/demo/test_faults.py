"""What the demo can tell of, and what counts as the right end of each."""

from dataclasses import replace

import pytest

from console.commands import demo as command
from local.demo.expected import Expected
from local.demo.faults import DEFAULT, STORIES
from local.demo.report import STAGES, Report, Truth, what_is_missing
from local.demo.seeding import shipped_policies
from tests.tools.demo_reports import REPORT, TRUTH

RUN_ONLY = STORIES["hang"].expected


def test_the_command_offers_what_there_is() -> None:
    assert tuple(STORIES) == command.FAULTS
    assert command.FAULTS[0] == DEFAULT


@pytest.mark.parametrize("expected", [story.expected for story in STORIES.values()], ids=list(STORIES))
def test_each_ends_with_a_shipped_policy_and_with_stages_in_their_order(expected: Expected) -> None:
    assert expected.policy in shipped_policies()
    assert [stage for stage in STAGES if stage in expected.stages] == list(expected.stages)


def of_a_run() -> tuple[Report, Truth]:
    stages = tuple(stage for stage in REPORT.stages if stage.name in RUN_ONLY.stages)
    report = replace(REPORT, stages=stages, policy=RUN_ONLY.policy, new_instance=None, refused=())
    return report, replace(TRUTH, instances_started=0, old_instance_is_gone=False, torn_steps=frozenset())


def test_a_hang_that_ends_with_one_restart_lacks_nothing() -> None:
    assert what_is_missing(*of_a_run(), RUN_ONLY) == []


@pytest.mark.parametrize(
    ("changes", "world", "said"),
    [
        ({"new_instance": "i-new"}, {"instances_started": 1}, "1 instances were started, and no node was at fault"),
        ({}, {"old_instance_is_gone": True}, "instance i-old was given up, and it was well"),
        ({"stages": REPORT.stages}, {}, "the stage isolated has no place here"),
        ({"policy": "xid-79-fell-off-the-bus"}, {}, "policy xid-79-fell-off-the-bus acted, not training-stalled"),
        ({}, {"others": ("another incident acted, or waits: x on n (closed)",)}, "another incident acted"),
        ({"events_sent": 0}, {}, "no agent sent any event"),
    ],
)
def test_what_is_wrong_with_a_hang_is_said(changes: dict[str, object], world: dict[str, object], said: str) -> None:
    report, truth = of_a_run()
    problems = what_is_missing(replace(report, **changes), replace(truth, **world), RUN_ONLY)  # type: ignore[arg-type]
    assert any(said in problem for problem in problems)


def test_a_machine_that_hangs_need_not_have_said_anything() -> None:
    silent = STORIES["silent"].expected
    assert what_is_missing(replace(REPORT, policy=silent.policy, events_sent=0), TRUTH, silent) == []

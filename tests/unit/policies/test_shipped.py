"""The shipped policies are in force as they are: they load, their examples hold, each cites its source."""

from pathlib import Path

import pytest

from policies.contract.vocabulary import Action, EvidenceRule
from policies.expressions.expression import compile_expression
from policies.loader import load_text
from policies.model import Policy

FOLDER = Path(__file__).parents[3] / "policies" / "shipped"
FILES = sorted(FOLDER.glob("*.yaml"))


def load(path: Path) -> Policy:
    loaded = load_text(path.read_bytes())
    assert isinstance(loaded, Policy), [str(problem) for problem in loaded]
    return loaded


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_policy_loads_and_keeps_its_own_examples(path: Path) -> None:
    policy = load(path)
    assert policy.name == path.stem
    assert policy.examples
    assert policy.cites


def test_the_faults_of_the_main_line_are_covered() -> None:
    main = (
        *(
            "xid-13-graphics-exception",
            "xid-48-double-bit-error",
            "xid-63-row-remap-pending",
            "xid-64-row-remap-failed",
        ),
        *("xid-79-fell-off-the-bus", "xid-94-contained-memory-error"),
    )
    assert {name.split("-")[1]: load(FOLDER / f"{name}.yaml").do for name in main} == {
        "13": (Action.RECORD,),
        "48": (Action.ISOLATE, Action.RESET_GPU, Action.RESUME_JOB),
        "63": (Action.RECORD,),
        "64": (Action.ISOLATE, Action.RESET_GPU, Action.RESUME_JOB),
        "79": (Action.ISOLATE, Action.REPLACE_NODE, Action.RESUME_JOB),
        "94": (Action.RESTART_PROCESS,),
    }


def test_what_a_node_cannot_mend_costs_the_node_or_the_run_and_no_page() -> None:
    for name in ("xid-48-double-bit-error", "xid-64-row-remap-failed"):
        assert load(FOLDER / f"{name}.yaml").otherwise == (Action.ISOLATE, Action.REPLACE_NODE, Action.RESUME_JOB)
    assert load(FOLDER / "xid-94-contained-memory-error.yaml").otherwise == (Action.RESUME_JOB,)


def test_a_lost_gpu_is_answered_without_cel_though_two_lines_tell_of_it() -> None:
    condition = compile_expression(load(FOLDER / "xid-79-fell-off-the-bus.yaml").when)
    assert (condition.program, len(condition.alternatives)) == (None, 2)


def test_a_lost_gpu_is_latched_and_has_a_way_out_when_replacing_fails() -> None:
    policy = load(FOLDER / "xid-79-fell-off-the-bus.yaml")
    plan = policy.plan(3)
    assert policy.evidence is EvidenceRule.LATCHED
    assert plan.otherwise == (Action.PAGE_OPERATOR,)
    assert (plan.revision, plan.settle_seconds, plan.deadline_seconds) == (3, 10.0, 1800.0)
    assert plan.limits["replacements"].at_most == 2
    assert plan.limits["replacements"].within_seconds == 600.0


def test_a_failed_training_job_is_resumed_where_its_instances_failed_and_told_of_where_it_failed_itself() -> None:
    lost, itself = (load(FOLDER / f"sagemaker-job-{name}.yaml") for name in ("lost-its-instances", "failed-by-itself"))
    assert (lost.do, lost.otherwise, itself.do) == ((Action.RESUME_JOB,), (Action.PAGE_OPERATOR,), (Action.ALERT,))
    assert lost.evidence is EvidenceRule.LATCHED
    limit = lost.plan(1).limits["restarts"]
    assert (limit.at_most, limit.per) == (3, "job")

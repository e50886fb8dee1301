from hypothesis import given
from hypothesis import strategies as st

from policies.contract.rungs import Executor, Rung
from policies.contract.vocabulary import Action, Orchestrator
from policies.coordination.plan import ORDER, Layout, lay_out

REPLACE = (Action.ISOLATE, Action.REPLACE_NODE, Action.RESUME_JOB)


def laid(
    *actions: Action,
    orchestrator: Orchestrator = Orchestrator.EKS,
    has_job: bool = True,
    maybe_dead: bool = False,
    done: tuple[Rung, ...] = (),
) -> list[Rung]:
    layout = lay_out(actions, orchestrator=orchestrator, has_job=has_job, maybe_dead=maybe_dead, done=done)
    return [each.rung for each in layout.rungs]


def test_a_dead_job_is_suspended_after_the_evidence_and_resumed_after_the_verified_node() -> None:
    assert laid(*REPLACE) == [
        Rung.ISOLATE,
        Rung.COLLECT_EVIDENCE,
        Rung.SUSPEND_JOB,
        Rung.REPLACE_NODE,
        Rung.VERIFY_NODE,
        Rung.CHOOSE_CHECKPOINT,
        Rung.RESUME_JOB,
        Rung.CONFIRM_RESUME,
    ]


def test_without_a_job_only_the_node_is_seen_to() -> None:
    without = [Rung.ISOLATE, Rung.COLLECT_EVIDENCE, Rung.REPLACE_NODE, Rung.VERIFY_NODE]
    assert laid(*REPLACE, has_job=False) == without


def test_a_process_is_not_ended_by_itself_where_the_run_is_stopped_and_its_gpu_reset() -> None:
    both = (Action.RESTART_PROCESS, Action.RESUME_JOB)
    assert Rung.RESTART_PROCESS in laid(*both)  # what is held by the driver outlives the stop
    assert Rung.RESTART_PROCESS not in laid(*both, Action.RESET_GPU)
    assert Rung.RESTART_PROCESS in laid(*both, Action.RESET_GPU, has_job=False)


def test_a_node_that_may_be_dead_is_fenced_before_its_job_is_suspended() -> None:
    rungs = laid(*REPLACE, maybe_dead=True)
    assert rungs.index(Rung.COLLECT_EVIDENCE) < rungs.index(Rung.FENCE_NODE) < rungs.index(Rung.SUSPEND_JOB)
    assert Rung.FENCE_NODE not in laid(Action.ISOLATE, maybe_dead=True)


def test_a_job_that_the_policy_does_not_resume_is_not_touched() -> None:
    assert Rung.SUSPEND_JOB not in laid(Action.ISOLATE, Action.REPLACE_NODE)


def test_sagemaker_has_no_node_of_ours() -> None:
    assert laid(*REPLACE, orchestrator=Orchestrator.SAGEMAKER) == [
        Rung.COLLECT_EVIDENCE,
        Rung.SUSPEND_JOB,
        Rung.CHOOSE_CHECKPOINT,
        Rung.RESUME_JOB,
        Rung.CONFIRM_RESUME,
    ]


def test_who_carries_out_what() -> None:
    def executors(orchestrator: Orchestrator) -> dict[Rung, Executor | None]:
        layout = lay_out(REPLACE, orchestrator=orchestrator, has_job=True, maybe_dead=True)
        return {each.rung: each.executor for each in layout.rungs}

    eks, sagemaker = executors(Orchestrator.EKS), executors(Orchestrator.SAGEMAKER)
    assert eks[Rung.REPLACE_NODE] is eks[Rung.FENCE_NODE] is Executor.INSTANCES
    assert eks[Rung.VERIFY_NODE] is eks[Rung.SUSPEND_JOB] is Executor.KUBERNETES
    assert eks[Rung.CONFIRM_RESUME] is Executor.CHECKPOINTS
    assert sagemaker[Rung.CONFIRM_RESUME] is sagemaker[Rung.SUSPEND_JOB] is Executor.SAGEMAKER
    assert sagemaker[Rung.CHOOSE_CHECKPOINT] is Executor.CHECKPOINTS


def layout(*actions: Action, orchestrator: Orchestrator = Orchestrator.EKS) -> Layout:
    return lay_out(actions, orchestrator=orchestrator, has_job=True, maybe_dead=False)


def test_what_nobody_carries_out_is_named() -> None:
    assert layout(Action.ISOLATE, Action.DRAIN).unsupported == (Action.DRAIN,)
    assert not layout(Action.ISOLATE, Action.DRAIN).acts
    assert layout(*REPLACE, orchestrator=Orchestrator.SLURM).unsupported == REPLACE


def test_recording_and_paging_alone_act_on_nothing() -> None:
    assert not layout(Action.RECORD).acts
    assert not layout(Action.ALERT, Action.PAGE_OPERATOR).acts
    assert layout(Action.ISOLATE).acts


def test_a_ladder_leaves_out_what_is_done() -> None:
    done = (Rung.ISOLATE, Rung.COLLECT_EVIDENCE)
    assert laid(Action.REPLACE_NODE, has_job=False, done=done) == [Rung.REPLACE_NODE, Rung.VERIFY_NODE]


RESET = (Action.ISOLATE, Action.RESET_GPU, Action.RESUME_JOB)


def test_a_gpu_is_reset_when_its_job_is_stopped_and_the_node_is_proven_and_let_go_before_the_job_is() -> None:
    assert laid(*RESET) == [
        Rung.ISOLATE,
        Rung.COLLECT_EVIDENCE,
        Rung.SUSPEND_JOB,
        Rung.RESET_GPU,
        Rung.VERIFY_NODE,
        Rung.RELEASE_NODE,
        Rung.CHOOSE_CHECKPOINT,
        Rung.RESUME_JOB,
        Rung.CONFIRM_RESUME,
    ]


def test_a_reset_alone_stops_no_job() -> None:
    assert Rung.SUSPEND_JOB not in laid(Action.RESET_GPU)


def test_a_process_is_ended_after_its_evidence_is_kept() -> None:
    assert laid(Action.RESTART_PROCESS) == [Rung.COLLECT_EVIDENCE, Rung.RESTART_PROCESS]
    assert laid(Action.RESTART_SERVICE) == [Rung.COLLECT_EVIDENCE, Rung.RESTART_SERVICE]


def test_a_node_that_is_given_up_is_neither_mended_nor_let_go() -> None:
    assert laid(*RESET, Action.REPLACE_NODE, Action.RESTART_PROCESS) == laid(*REPLACE)


def test_after_a_reset_that_did_not_help_the_successor_is_proven() -> None:
    done = (Rung.ISOLATE, Rung.COLLECT_EVIDENCE, Rung.SUSPEND_JOB, Rung.RESET_GPU, Rung.VERIFY_NODE)
    assert laid(*REPLACE, done=done)[:2] == [Rung.REPLACE_NODE, Rung.VERIFY_NODE]
    assert laid(*REPLACE, done=(*done, Rung.RELEASE_NODE))[0] is Rung.ISOLATE


def test_where_there_is_no_node_of_ours_nobody_mends_it() -> None:
    for action in (Action.RESET_GPU, Action.RESTART_PROCESS, Action.RESTART_SERVICE):
        assert layout(action, orchestrator=Orchestrator.SAGEMAKER).unsupported == (action,)
        assert not layout(action).unsupported


@given(st.lists(st.sampled_from(Action)), st.sampled_from(Orchestrator), st.booleans(), st.booleans())
def test_the_order_is_always_the_safe_one(
    actions: list[Action], orchestrator: Orchestrator, has_job: bool, maybe_dead: bool
) -> None:
    rungs = laid(*actions, orchestrator=orchestrator, has_job=has_job, maybe_dead=maybe_dead)
    assert rungs == sorted(set(rungs), key=ORDER.index)
    assert Rung.RESUME_JOB not in rungs or Rung.SUSPEND_JOB in rungs
    assert Rung.REPLACE_NODE not in rungs or Rung.VERIFY_NODE in rungs
    assert Rung.RELEASE_NODE not in rungs or (Rung.VERIFY_NODE in rungs and Rung.REPLACE_NODE not in rungs)

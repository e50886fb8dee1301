import pytest

from policies.contract.decisions import Limit
from policies.contract.envelope import NodeIdentity
from policies.contract.events import JobRef
from policies.contract.vocabulary import Orchestrator
from policies.coordination.budgets import scope_of
from policies.coordination.runs import run_of

SAGEMAKER = Orchestrator.SAGEMAKER


@pytest.mark.parametrize(
    ("job", "run"),
    [
        (JobRef(id="llama", orchestrator=SAGEMAKER), "llama"),
        (JobRef(id="llama-r01", orchestrator=SAGEMAKER), "llama"),
        (JobRef(id="llama-r12", orchestrator=SAGEMAKER), "llama"),
        (JobRef(id="x" * 63, orchestrator=SAGEMAKER), "x" * 59),
        (JobRef(id="x" * 59 + "-r01", orchestrator=SAGEMAKER), "x" * 59),
        (JobRef(id="training/llama-r01", orchestrator=Orchestrator.EKS), "training/llama-r01"),
        (JobRef(id="llama-r01"), "llama-r01"),
    ],
)
def test_successors_share_the_name_of_their_run(job: JobRef, run: str) -> None:
    assert run_of(job) == run


def test_a_limit_per_job_counts_a_run_whatever_its_jobs_are_called() -> None:
    limit = Limit(at_most=3, within_seconds=3600, per="job")
    node = NodeIdentity(cluster="c", name="n", instance_id="training-job/llama")
    jobs = [JobRef(id=name, orchestrator=SAGEMAKER) for name in ("llama", "llama-r01", "llama-r02")]
    assert {scope_of("restarts", limit, policy="p", node=node, job=job) for job in jobs} == {"restarts#job#llama"}

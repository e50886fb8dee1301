"""What ships for hosts, storage, runs and instances: which policies fire; victims and programs cost no machine."""

import pytest

from policies.contract.events import Component
from policies.contract.vocabulary import Action, ComponentType, EvidenceRule, Kind, Severity
from policies.model import Policy
from tests.tools.shipped_faults import Fault
from tests.tools.shipped_host_faults import AWS, HOSTS, RUNS, rank_log
from tests.tools.shipped_stories import TOUCHING, Told, fired, judged, lead, policies_by_name, polled, rulebook

FAMILIES = (
    *("host.", "storage.", "process.", "training.", "container.", "node.", "pod.", "job."),
    *("instance.", "capacity.", "pipeline."),
)
POLICIES = [one for one in policies_by_name().values() if any(f'"{family}' in one.when for family in FAMILIES)]
MACHINES = frozenset({Action.REPLACE_NODE, Action.REBOOT_NODE, Action.RESET_GPU, Action.RELOAD_DRIVER, Action.DRAIN})
# Kinds that ask for nothing, and why.
SILENT = {
    Kind.CONTAINER_EXITED: "pods come and go; of a run's ranks the process itself is told",
    Kind.NODE_RECOVERED: "the end of a fault",
    Kind.STORAGE_NFS_RECOVERED: "the end of a fault",
    Kind.STORAGE_LUSTRE_RECOVERED: "the end of a fault",
    Kind.PIPELINE_CANARY: "the pipeline's own proof of life",
}
# What programs, launchers and waiting peers print or do: nothing of it may cost a machine.
SAID_BY_VICTIMS = (
    "Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE)",
    "Connection reset by peer",
    "NET/IB : Got completion from peer 10.0.0.1<48154> with status=12",
    "Detected mismatch between collectives on ranks. Rank 8 is running collective: ALLREDUCE",
    "closing signal SIGTERM",
    "TypeError: unsupported operand",
    "torch.OutOfMemoryError: CUDA out of memory.",
    "CUDA error: an illegal memory access was encountered",
    "RuntimeError: CUDA error: uncorrectable ECC error encountered",
    "Fatal Python error: Segmentation fault",
    "step 10 loss: nan",
    "PytorchStreamReader failed reading zip archive",
)
by_name = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)


@pytest.mark.parametrize("fault", [*HOSTS, *RUNS, *AWS], ids=lambda fault: fault.says)
def test_these_policies_fire_and_this_act_leads(fault: Fault) -> None:
    found = judged(fault.told, fault.instance_type)
    assert fired(found) == fault.fires
    assert lead(found) == (fault.by, fault.act)


@by_name
def test_what_touches_has_a_ladder_a_limit_and_lasting_evidence(policy: Policy) -> None:
    if TOUCHING & {*policy.do}:
        assert policy.otherwise
        assert policy.limits
        assert policy.settle or policy.approval
        assert policy.evidence is not EvidenceRule.TRANSIENT


@by_name
def test_only_hardware_the_kernel_and_ec2_cost_a_machine_never_a_process_or_a_log(policy: Policy) -> None:
    said = ('"training.', '"process.', '"container.', '"pod.', '"job.', "_stalled", "_evicted", "oom_kill", "leak")
    if any(word in policy.when for word in said):
        assert not MACHINES & {*policy.do, *policy.otherwise}


@pytest.mark.parametrize("text", SAID_BY_VICTIMS)
@pytest.mark.parametrize("times", [1, 200])
def test_what_a_rank_prints_costs_its_node_nothing_however_often(text: str, times: int) -> None:
    told = [one for turn in range(times) for one in rank_log(text, after=turn * 400.0, job=f"train/{turn % 7}")]
    assert not any(MACHINES & {*finding.policy.do, *finding.policy.otherwise} for finding in judged(told))


def test_ranks_that_follow_the_first_or_were_asked_to_end_restart_nothing() -> None:
    rank = Component(type=ComponentType.PROCESS, index=4711)
    told = polled(Kind.PROCESS_EXITED, Severity.WARNING, component=rank, signal="SIGTERM", symptom=True)
    assert not any(TOUCHING & {*finding.policy.do} for finding in judged(told))


@pytest.mark.parametrize("kind", [Kind.STORAGE_NFS_STALLED, Kind.STORAGE_LUSTRE_STALLED])
def test_a_server_of_files_that_stalls_costs_no_machine_and_no_run(kind: Kind) -> None:
    asked = [rule.plan for rule in rulebook().rules if rule.when.discharge({"event.kind": kind.value}) is not None]
    assert asked
    assert not any(TOUCHING & {*plan.do} for plan in asked)


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind.startswith(FAMILIES)])
def test_every_kind_has_a_policy_or_a_reason_to_have_none(kind: Kind) -> None:
    asked = [rule.name for rule in rulebook().rules if rule.when.discharge({"event.kind": kind.value}) is not None]
    assert bool(asked) is (kind not in SILENT)


def test_a_boot_that_is_not_ready_yet_wakes_nobody() -> None:
    node = Component(type=ComponentType.NODE)
    told = list[Told]()
    for kind in (Kind.NODE_NOT_READY, Kind.NODE_KUBELET_DOWN, Kind.CONTAINER_RUNTIME_DOWN):
        told += polled(kind, Severity.INFO, component=node, booting=True)
    assert judged(told) == []

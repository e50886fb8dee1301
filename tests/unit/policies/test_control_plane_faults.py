"""What other control planes got wrong and policies can get right; what is not theirs stands in NOT_COVERED.md."""

from datetime import timedelta

import pytest

from policies.contract.decisions import Finding
from policies.contract.envelope import Envelope, NodeIdentity, ParsedEnvelope
from policies.contract.events import Component, FaultEvent, JobRef, Scalar
from policies.contract.identifiers import stable_id
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action, ComponentType, Kind, Orchestrator, PolicyMode, Source
from policies.coordination.plan import lay_out
from policies.coordination.sparing import STILL_SERVES
from policies.coordination.states import IncidentStatus
from policies.evaluator import Delivery, evaluate
from policies.facts.capacity import Capacity
from policies.facts.snapshot import StatedFacts
from policies.model import Example, Policy
from policies.rulebook import AcceptedPolicy, compile_policies
from tests.tools.decision_table import DecisionTable
from tests.tools.envelopes import delivery, event, policy, rules
from tests.tools.incidents import CLUSTER, JOB, START, ask, findings
from tests.tools.incidents import at as later
from tests.tools.incidents import finding as found_on
from tests.tools.shipped_host_faults import from_aws, health, state
from tests.tools.shipped_stories import fired, judged, policies_by_name
from tests.tools.shipped_stories import rulebook as shipped_rulebook

SHIPPED = sorted(policies_by_name().values(), key=lambda one: one.name)
by_name = pytest.mark.parametrize("shipped", SHIPPED, ids=lambda one: one.name)
replacing = pytest.mark.parametrize(
    "shipped",
    [one for one in SHIPPED if Action.REPLACE_NODE in one.do],
    ids=lambda one: one.name,
)


def armed(one: Policy) -> Policy:
    return one.model_copy(update={"mode": PolicyMode.ACTIVE})


def played(one: Policy, story: Example, ago: timedelta = timedelta(0)) -> list[Finding]:
    """Return what *one* finds in its *story*, seen *ago* and told now."""
    node = NodeIdentity(cluster=CLUSTER, name="n", instance_id="i-1", instance_type=story.instance_type)
    book = compile_policies([AcceptedPolicy(one, 1, "hash")])
    told, made = "", list[Finding]()
    for seq, each in enumerate(sorted(story.events, key=lambda each: each.after)):
        moment = START + timedelta(seconds=each.after)
        seen = FaultEvent(
            id=stable_id("example", seq),
            seq=seq,
            kind=each.kind,
            severity=each.severity,
            source=Source.KERNEL_LOG,
            observed_at=moment - ago,
            first_observed_at=moment - ago,
            count=each.count,
            component=each.component,
            job=each.job,
            attributes=each.attributes,
        )
        sent = ParsedEnvelope(Envelope(node=node, spool_id="s", first_seq=seq, sent_at=moment, events=(seen,)))
        outcome = evaluate(
            [Delivery(sent, moment)], state=told, rulebook=book, now=moment, snapshot=StatedFacts(story.facts)
        )
        told, made = outcome.state, [*made, *outcome.findings]
    return made


@replacing
def test_a_condition_of_eight_days_ago_that_is_told_now_replaces_nothing(shipped: Policy) -> None:
    story = next(one for one in shipped.examples if one.findings)
    for old in played(armed(shipped), story, timedelta(days=8)):
        table = DecisionTable()
        table.take(0, findings(old))
        assert table.incident.status is IncidentStatus.CLOSED
        assert not table.incident.acted
        assert "too long to act on it" in table.incident.timeline[-1].detail


@by_name
def test_a_rehearsal_finds_exactly_what_the_armed_policy_finds(shipped: Policy) -> None:
    for story in shipped.examples:
        shadow = played(shipped.model_copy(update={"mode": PolicyMode.SHADOW}), story)
        assert [one.id for one in shadow] == [one.id for one in played(armed(shipped), story)]


@pytest.mark.parametrize("word", ["stopping", "stopped", "shutting-down", "terminated"])
def test_an_instance_that_leaves_is_lost_already_it_is_fenced_and_replaced_and_never_drained(word: str) -> None:
    assert fired(judged(state(word))) == {"instance-lost"}
    lost = policies_by_name()["instance-lost"]
    layout = lay_out(lost.do, orchestrator=Orchestrator.EKS, has_job=True, maybe_dead=True)
    rungs = [each.rung for each in layout.rungs]
    assert rungs.index(Rung.FENCE_NODE) < rungs.index(Rung.SUSPEND_JOB) < rungs.index(Rung.REPLACE_NODE)
    assert rungs.index(Rung.VERIFY_NODE) < rungs.index(Rung.RESUME_JOB)
    assert Action.DRAIN not in {*lost.do, *lost.otherwise}


def test_a_scheduled_reboot_ends_no_instance_and_a_retirement_asks_first() -> None:
    told = from_aws("AWS Health Event", health("AWS_EC2_INSTANCE_REBOOT_MAINTENANCE_SCHEDULED"))
    assert [each.policy.do for each in judged(told)] == [(Action.ALERT,)]
    retired = policies_by_name()["instance-retirement-scheduled"]
    table = DecisionTable()
    table.take(0, findings(found_on(policy=armed(retired).plan(1), kind=Kind.INSTANCE_RETIREMENT_SCHEDULED)))
    assert table.answer(60, ask(table.incident.id)).verdict != "act"
    assert not table.incident.acted


def test_in_a_pool_of_four_two_are_mended_at_once_and_the_third_says_why_it_waits() -> None:
    panic = armed(policies_by_name()["host-panic"]).plan(1)
    table = DecisionTable()
    table.take(0, findings(*(found_on(f"i-{n}", policy=panic, kind=Kind.HOST_PANIC, job=None) for n in range(3))))
    answers = [table.answer(30 + n, ask(one.id)) for n, one in enumerate(table.incidents)]
    assert [each.verdict for each in answers] == ["act", "act", "parked"]
    assert "budget" in answers[-1].reason


@replacing
def test_a_degraded_node_is_not_given_up_where_no_capacity_is_and_a_dead_one_is(shipped: Policy) -> None:
    told = played(armed(shipped), next(one for one in shipped.examples if one.findings))
    table = DecisionTable()
    table.capacity = Capacity(at=later(0), spares=0, reserved=8, reserved_free=0)
    for one in told:
        table.take(0, findings(one))
    answer = table.answer(200, ask(table.incident.id))
    if {one.kind for one in told} <= STILL_SERVES:
        assert (answer.verdict, table.incident.acted) == ("parked", False)
        assert "all 8 reserved slots are taken" in table.incident.timeline[-1].detail
        assert table.incident.timeline[-1].alert == "page"
    else:
        assert answer.verdict == ("parked" if shipped.approval else "act")
        assert "reserved" not in table.incident.reason


def test_where_launches_are_refused_only_what_serves_no_more_is_given_up() -> None:
    refused = Capacity(at=later(0), spares=0, reserved=0, reserved_free=0, refused_at=later(-60), refused="no capacity")
    verdicts = {}
    for name, kind in (
        ("gpu-sram-threshold-exceeded", Kind.GPU_SRAM_THRESHOLD_EXCEEDED),
        ("host-panic", Kind.HOST_PANIC),
    ):
        table = DecisionTable()
        table.capacity = refused
        table.take(0, findings(found_on(policy=armed(policies_by_name()[name]).plan(1), kind=kind)))
        verdicts[name] = table.answer(200, ask(table.incident.id)).verdict
    assert verdicts == {"gpu-sram-threshold-exceeded": "parked", "host-panic": "act"}


@by_name
def test_no_budget_is_a_share_that_a_small_pool_rounds_down_to_nothing(shipped: Policy) -> None:
    assert all(limit.at_most for limit in shipped.limits.values())


def test_a_gang_of_many_nodes_is_restarted_once_as_a_whole() -> None:
    died = armed(policies_by_name()["rank-died"]).plan(1)
    table = DecisionTable()
    for number in range(150):
        one = found_on(f"i-{number}", policy=died, job=JOB, kind=Kind.PROCESS_EXITED, seen=later(number / 10))
        table.take(number / 10, findings(one))
    rungs = [each.rung for each in table.incident.rungs]
    assert rungs.index(Rung.SUSPEND_JOB) < rungs.index(Rung.RESUME_JOB)
    assert Rung.RESTART_PROCESS not in rungs


@pytest.mark.parametrize(
    ("kind", "attributes", "acts"),
    [
        (Kind.GPU_SRAM_THRESHOLD_EXCEEDED, {}, "gpu-sram-threshold-exceeded"),
        (Kind.GPU_ROW_REMAP_FAILED, {}, "xid-64-row-remap-failed"),
        (Kind.GPU_XID, {"xid": 64}, "xid-64-row-remap-failed"),
        (Kind.GPU_XID, {"xid": 154, "recovery_action": 4}, "gpu-recovery-action-reset"),
        (Kind.GPU_RECOVERY_ACTION, {"recovery_action": 4}, "gpu-recovery-action-reset"),
        (Kind.STORAGE_DEVICE_FAILED, {"device": "nvme3"}, "storage-device-failed"),
        (Kind.STORAGE_READ_ONLY, {"mount": "/scratch"}, "storage-read-only"),
    ],
)
def test_a_run_whose_last_checkpoint_is_forty_hours_old_is_not_stopped_without_a_person(
    kind: Kind, attributes: dict[str, Scalar], acts: str
) -> None:
    asks = policies_by_name()["degraded-node-under-an-old-checkpoint"]
    old, lately = ({"job.alive": True, "job.minutes_since_checkpoint": hours * 60.0} for hours in (40, 0.5))
    dead = {**old, "job.alive": False}
    seen = delivery(event(0, 0, kind=kind, xid=None, attributes=attributes, job=JobRef(id="train/llama")))
    deciding = {
        name: {
            one.policy.name
            for one in evaluate(
                [seen], state="", rulebook=shipped_rulebook(), now=seen.arrived_at, snapshot=StatedFacts(facts)
            ).findings
            if Action.RESUME_JOB in one.policy.do
        }
        for name, facts in {"old": old, "lately": lately, "dead": dead, "unknown": {}}.items()
    }
    assert deciding == {"old": {asks.name}, "lately": {acts}, "dead": {acts}, "unknown": {acts}}
    table = DecisionTable()
    table.take(0, findings(found_on(policy=armed(asks).plan(1), kind=kind, job=JOB)))
    answer = table.answer(60, ask(table.incident.id))
    assert "wants a person's approval before it acts" in answer.reason
    assert (answer.verdict, table.incident.acted) == ("parked", False)


def test_a_gpu_that_was_exchanged_has_another_uuid_and_the_same_place() -> None:
    slot = "0000:18:00"
    before, after = (Component(type=ComponentType.GPU, pci=slot, uuid=uuid) for uuid in ("GPU-old", "GPU-new"))
    lasting = policy(when='event.kind == "gpu.overheated"', **{"for": "5m"}, do=["alert"])
    ill = event(0, 0, kind=Kind.GPU_OVERHEATED, component=before)
    well = event(1, 60, kind=Kind.CONDITION_CLEARED, component=after, attributes={"of": "gpu.overheated"})
    book = rules(lasting)
    first = evaluate([delivery(ill)], state="", rulebook=book, now=delivery(ill).arrived_at)
    second = evaluate([delivery(well)], state=first.state, rulebook=book, now=delivery(well).arrived_at)
    beat = delivery(sent=600, arrived=600)
    third = evaluate([beat], state=second.state, rulebook=book, now=beat.arrived_at)
    assert (first.findings, second.findings, third.findings) == ((), (), ())
    still = evaluate([beat], state=first.state, rulebook=book, now=beat.arrived_at)
    assert len(still.findings) == 1  # it would have been told, had the new GPU not been well

from dataclasses import replace

from functions.acts.act import Act, ActContext
from policies.contract.decisions import Limit, PolicyPlan, RungReport
from policies.contract.errors import DependencyError
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action
from policies.coordination.incident import Incident
from policies.coordination.snapshot import Keys
from policies.coordination.states import IncidentStatus
from tests.tools.asl import Player
from tests.tools.fleet_acts import Does, Site, acts_on
from tests.tools.incidents import CLUSTER, finding, findings, plan
from tests.tools.world import ASL, World


def story(site: Site, acts: dict[Rung, Act] | None = None, policy: PolicyPlan | None = None) -> World:
    world = World(lambda _: {**acts_on(site), **(acts or {})})
    world.send(findings(finding("i-1", policy=policy)))
    world.sweep_every(60, until=7200)
    return world


def fails(context: ActContext) -> RungReport:
    return context.failed("no capacity in us-east-1a")


def never_ends(context: ActContext) -> RungReport:
    return context.waiting(60, "pods are still there")


def breaks(context: ActContext) -> RungReport:
    raise DependencyError("EC2 does not answer.", hint="It is tried again.")


def pages(incident: Incident) -> list[str]:
    return [entry.detail for entry in incident.timeline if entry.alert == "page"]


def test_a_failed_rung_without_a_ladder_parks_with_its_reason() -> None:
    site = Site()
    world = story(site, {Rung.REPLACE_NODE: Does(fails)}, plan(otherwise=()))
    world.run(7200)
    incident = world.incident("i-1")
    assert incident.status is IncidentStatus.PARKED
    assert pages(incident) == ["replace_node failed: no capacity in us-east-1a"]
    assert site.stopped == {"train/llm": True}


def test_the_ladder_goes_on_with_what_is_not_done_yet() -> None:
    site = Site()
    policy = plan(Action.ISOLATE, Action.COLLECT_EVIDENCE, otherwise=(Action.REPLACE_NODE, Action.RESUME_JOB))
    world = story(site, {Rung.ISOLATE: Does(fails)}, policy)
    world.run(7200)
    assert pages(world.incident("i-1")) == ["isolate failed: no capacity in us-east-1a"]
    stages = [entry.stage for entry in world.incident("i-1").timeline]
    assert stages.count("escalated") == 1


def test_a_ladder_that_stops_the_run_takes_its_hold_and_resumes_it() -> None:
    site = Site()
    policy = plan(Action.ISOLATE, otherwise=(Action.REPLACE_NODE, Action.RESUME_JOB))
    failing_once = {"left": 1}

    def isolate(context: ActContext) -> RungReport:
        if failing_once["left"]:
            failing_once["left"] -= 1
            return context.failed("the API refused")
        return acts_on(site)[Rung.ISOLATE].advance(context)

    world = story(site, {Rung.ISOLATE: Does(isolate)}, policy)
    world.run(7200)
    incident = world.incident("i-1")
    assert incident.status is IncidentStatus.CLOSED
    assert incident.facts["confirmed_step"] == 901
    assert site.stopped == {"train/llm": False}


def test_the_ladder_that_ends_with_a_page_tells_why() -> None:
    world = story(Site(), {Rung.REPLACE_NODE: Does(fails)})
    world.run(7200)
    assert pages(world.incident("i-1")) == ["replace_node failed: no capacity in us-east-1a"]


def test_evidence_that_cannot_be_kept_stops_nothing() -> None:
    world = story(Site(), {Rung.COLLECT_EVIDENCE: Does(fails)})
    world.run(7200)
    incident = world.incident("i-1")
    assert incident.status is IncidentStatus.CLOSED
    assert "skipped" in [entry.stage for entry in incident.timeline]


def test_an_act_that_never_ends_parks_at_the_deadline() -> None:
    world = story(Site(), {Rung.SUSPEND_JOB: Does(never_ends)})
    world.run(7200)
    incident = world.incident("i-1")
    assert incident.status is IncidentStatus.PARKED
    assert len(pages(incident)) == 1
    parked = next(entry for entry in incident.timeline if entry.stage == "parked")
    assert (parked.at - incident.deadline).total_seconds() < 120


def test_an_executor_that_stays_broken_is_tried_four_times_and_then_parked() -> None:
    world = story(Site(), {Rung.REPLACE_NODE: Does(breaks)}, plan(deadline=3600))
    world.run(7200)
    incident = world.incident("i-1")
    assert incident.status is IncidentStatus.PARKED
    assert [entry.stage for entry in incident.timeline].count("faltered") == 3
    assert "replace_node failed with DependencyError" in pages(incident)[0]


def test_a_used_up_budget_parks_before_anything_is_touched() -> None:
    site = Site()
    policy = plan(limits={"replacements": Limit(at_most=1, within_seconds=600)})
    world = story(site, policy=policy)
    world.send(findings(finding("i-2", policy=policy)), after=5)
    world.run(7200)
    refused = world.incident("i-2")
    assert refused.status is IncidentStatus.PARKED
    assert "budget replacements#cluster is used up: 1 of 1 within 600 s" in pages(refused)[0]
    assert site.cordoned == {"i-1"}
    assert world.incident("i-1").status is IncidentStatus.CLOSED
    assert not site.stopped["train/llm"]


def test_a_policy_that_wants_approval_touches_nothing_without_it() -> None:
    site = Site()
    world = story(site, policy=plan(approval=True))
    world.run(7200)
    assert world.incident("i-1").status is IncidentStatus.PARKED
    assert not site.history


def test_a_parked_node_keeps_the_run_stopped_for_the_others() -> None:
    site = Site()

    def fails_for_the_first(context: ActContext) -> RungReport:
        return (
            fails(context) if context.node.instance_id == "i-1" else acts_on(site)[Rung.REPLACE_NODE].advance(context)
        )

    world = story(site, {Rung.REPLACE_NODE: Does(fails_for_the_first)})
    world.send(findings(finding("i-2")), after=5)
    world.run(7200)
    first, second = world.incident("i-1"), world.incident("i-2")
    assert first.status is IncidentStatus.PARKED
    assert second.status is IncidentStatus.CLOSED
    assert first.id in second.reason
    assert site.stopped["train/llm"]


def test_a_resume_that_fails_leaves_the_run_to_the_next_incident() -> None:
    site = Site()
    world = story(site, {Rung.CHOOSE_CHECKPOINT: Does(fails)})
    world.run(600)
    first = world.incident("i-1")
    assert first.status is IncidentStatus.PARKED
    job = world.store.read(CLUSTER, Keys(jobs=frozenset({"train/llm"}))).jobs["train/llm"]
    assert (job.holds, job.resumer) == ((), None)
    world.acts = acts_on(site)
    world.send(findings(finding("i-2", seen=world.now)))
    world.run(2400)
    assert world.incident("i-2").facts["confirmed_step"] == 901
    assert not site.stopped["train/llm"]


def test_six_executions_that_end_early_are_enough() -> None:
    world = story(Site(), policy=plan(deadline=7000))
    for attempt in range(1, 8):
        world.after(attempt * 400.0, lambda: _kill_current(world))
    world.acts = {**world.acts, Rung.REPLACE_NODE: Does(never_ends)}
    world.run(7200)
    incident = world.incident("i-1")
    assert incident.status is IncidentStatus.PARKED
    assert incident.attempt == 5
    assert "5 attempts ended early" in pages(incident)[0]


def _kill_current(world: World) -> None:
    incident = world.incident("i-1")
    world.kill(incident.id, incident.attempt)


def test_a_history_that_grows_long_is_handed_over() -> None:
    world = story(Site(), policy=plan(deadline=7000))
    quick = Does(lambda context: context.waiting(1, "pods are still there"))
    world.acts = {**world.acts, Rung.SUSPEND_JOB: quick}
    world.run(2000)
    incident = world.incident("i-1")
    assert incident.attempt > 1
    assert "restarted" in [entry.stage for entry in incident.timeline]
    longest = max(history_events(player) for player in world.players.values())
    assert 10_000 < longest < 15_000


def history_events(player: Player) -> int:
    """Entered, scheduled, started, (submitted,) succeeded and exited for a task; entered and exited for the rest."""
    kinds = [ASL["States"][state] for state in player.visits]
    return sum((6 if "HeartbeatSeconds" in each else 5) if each["Type"] == "Task" else 2 for each in kinds)


def test_coordinate_that_is_silent_for_long_ends_the_execution_and_the_sweep_begins_anew() -> None:
    site = Site()
    world = story(site)
    world.run(30)
    deaf = replace(world.coordinator)
    world.coordinator = _Silent()  # type: ignore[assignment]
    world.run(1800)
    assert world.failed_executions
    world.coordinator = deaf
    world.run(3600)
    incident = world.incident("i-1")
    assert incident.status is IncidentStatus.PARKED  # the deadline of fifteen minutes is long past
    assert "overdue" in pages(incident)[0]


class _Silent:
    def take(self, records: object) -> dict[str, list[dict[str, str]]]:
        return {"batchItemFailures": []}

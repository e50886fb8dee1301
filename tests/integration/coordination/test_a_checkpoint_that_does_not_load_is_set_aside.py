from hypothesis import given, settings
from hypothesis import strategies as st

from functions.acts.act import ActContext
from policies.contract.decisions import RungReport
from policies.contract.rungs import Rung
from policies.coordination.snapshot import Keys
from policies.coordination.states import IncidentStatus
from tests.tools.crashes import Crashes
from tests.tools.fleet_acts import Does, Site, acts_on
from tests.tools.incidents import CLUSTER, finding, findings, plan
from tests.tools.world import World

STEPS = (900, 800, 700, 600, 500, 400)


class Bucket:
    """Complete checkpoints, of which the run goes on only from those in ``loads``; it notes what was chosen."""

    def __init__(self, loads: set[int]) -> None:
        self.loads = loads
        self.chosen: list[int] = []

    def choose(self, context: ActContext) -> RungReport:
        left = [step for step in STEPS if step not in context.facts.get("set_aside", ())]
        if not left:
            return context.failed("none of 6 checkpoints is complete; resume by hand")
        if left[0] not in self.chosen:
            self.chosen.append(left[0])
        return context.done(chosen_step=left[0], checkpoint=f"s3://ckpt/step-{left[0]}")

    def confirm(self, context: ActContext) -> RungReport:
        step = context.facts["chosen_step"]
        if step in self.loads:
            return context.done(confirmed_step=step + 1)
        return context.failed(f"step 3 was reported, behind the chosen step {step}: the job did not load it")


def told(loads: set[int], crashes: dict[int, str] | None = None) -> tuple[World, Site, Bucket]:
    site, bucket = Site(), Bucket(loads)
    world = World(
        lambda world: {
            **acts_on(site, world.crashes.guard),
            Rung.CHOOSE_CHECKPOINT: Does(bucket.choose),
            Rung.CONFIRM_RESUME: Does(bucket.confirm),
        },
        crashes=Crashes(crashes or {}),
    )
    world.send(findings(finding(policy=plan(deadline=6000))))
    world.sweep_every(60, until=9000)
    world.run(9000)
    return world, site, bucket


def test_the_run_goes_on_from_the_one_before_it() -> None:
    world, site, bucket = told({800})
    incident = world.incident("i-1")
    assert incident.status is IncidentStatus.CLOSED
    assert (incident.facts["confirmed_step"], bucket.chosen) == (801, [900, 800])
    assert (site.times("suspend"), site.times("resume"), site.times("replace")) == (2, 2, 1)
    assert site.stopped == {"train/llm": False}


def test_four_that_do_not_load_are_a_persons() -> None:
    world, _, bucket = told({500})
    incident = world.incident("i-1")
    assert incident.status is IncidentStatus.PARKED
    assert bucket.chosen == [900, 800, 700, 600]
    assert [entry.detail for entry in incident.timeline if entry.alert == "page"] == [incident.reason]
    assert "step 900, 800, 700" in incident.reason


@settings(max_examples=100)
@given(
    loads=st.sets(st.sampled_from(STEPS)),
    crashes=st.dictionaries(st.integers(0, 120), st.sampled_from(["before", "after"]), max_size=4),
)
def test_whatever_loads_and_whatever_dies_the_newest_that_loads_is_found_or_a_person_asked(
    loads: set[int], crashes: dict[int, str]
) -> None:
    world, site, bucket = told(loads, crashes)
    incidents = [each for each in world.store.all_incidents() if each.fence]
    if not incidents:  # the finding itself dead-lettered: somebody has to redrive it
        assert world.dead_letters
        return
    (incident,) = incidents
    within_reach = [step for step in STEPS[:4] if step in loads]
    assert all(times == 1 for times in site.effects.values())
    assert bucket.chosen == list(STEPS[: len(bucket.chosen)])
    if incident.status is IncidentStatus.CLOSED:
        assert incident.facts["confirmed_step"] == max(within_reach) + 1
        assert site.times("suspend") == site.times("resume") == len(bucket.chosen)
        assert site.stopped == {"train/llm": False}
        job = world.store.read(CLUSTER, Keys(jobs=frozenset({"train/llm"}))).jobs["train/llm"]
        assert (job.holds, job.resumer) == ((), None)
    else:
        assert incident.status is IncidentStatus.PARKED
        assert any(entry.alert == "page" for entry in incident.timeline)
        assert not within_reach

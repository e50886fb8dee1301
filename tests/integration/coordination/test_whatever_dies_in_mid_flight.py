import pytest

from policies.coordination.incident import Incident
from policies.coordination.states import IncidentStatus
from tests.tools.crashes import Crashes
from tests.tools.fleet_acts import Site, acts_on
from tests.tools.incidents import finding, findings
from tests.tools.world import World


def story(crashes: Crashes, *, kill_at: float = 0.0, sweep: float = 60) -> tuple[Incident, Site, World]:
    site = Site()
    world = World(lambda world: acts_on(site, world.crashes.guard), crashes=crashes)
    world.send(findings(finding("i-1")))
    world.sweep_every(sweep, until=1500)
    if kill_at:
        world.after(kill_at, lambda: world.kill(world.incident("i-1").id, 1))
    world.run(1500)
    return world.incident("i-1"), site, world


def assert_went_well(incident: Incident, site: Site) -> None:
    assert incident.status is IncidentStatus.CLOSED, incident.timeline
    assert incident.facts["confirmed_step"] == 901
    assert [site.times(each) for each in ("isolate", "suspend", "replace", "verify", "resume")] == [1] * 5
    assert max(site.effects.values()) == 1


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("call", range(80))
def test_one_process_dies_at_one_call(call: int, when: str) -> None:
    incident, site, world = story(Crashes({call: when}))
    assert_went_well(incident, site)
    assert not world.dead_letters


def test_coordinate_dies_before_start_execution_twice_and_the_queue_brings_the_finding_back() -> None:
    start = 3  # after the run, the lease and the incident
    incident, site, _ = story(Crashes({start: "before", start + 1: "before"}))
    assert_went_well(incident, site)


def test_coordinate_dies_until_the_finding_is_a_dead_letter_and_the_sweep_starts_the_incident() -> None:
    incident, site, world = story(Crashes({3: "before", 4: "before", 5: "before"}), sweep=70)
    assert len(world.dead_letters) == 1
    assert_went_well(incident, site)
    assert incident.attempt == 1


@pytest.mark.parametrize("second", [1, 25, 40, 70, 90])
def test_an_execution_that_ends_early_gets_another_attempt(second: float) -> None:
    incident, site, _ = story(Crashes(), kill_at=second)
    assert_went_well(incident, site)
    assert incident.attempt == 2


def test_an_act_that_died_after_its_effect_observes_and_does_nothing_twice() -> None:
    calls = Crashes()
    story(calls)
    for call in range(calls.calls):
        incident, site, _ = story(Crashes({call: "after"}))
        assert_went_well(incident, site)

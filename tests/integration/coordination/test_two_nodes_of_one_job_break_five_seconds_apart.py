from policies.coordination.states import IncidentStatus
from tests.tools.fleet_acts import Site, acts_on
from tests.tools.incidents import finding, findings
from tests.tools.world import World


def test_one_suspension_two_replacements_one_resume() -> None:
    site = Site()
    world = World(lambda _: acts_on(site))
    world.send(findings(finding("i-1")))
    world.send(findings(finding("i-2")), after=5)
    world.run(900)
    first, second = world.incident("i-1"), world.incident("i-2")
    assert site.times("suspend") == 1
    assert site.times("replace") == 2
    assert [who for what, who, _ in site.history if what == "resume"] == [second.id]
    assert first.status is second.status is IncidentStatus.CLOSED
    assert "confirmed" not in [entry.stage for entry in first.timeline]
    assert second.id in first.reason


def test_a_node_that_breaks_while_the_run_resumes_has_it_suspended_again() -> None:
    site = Site()
    world = World(lambda _: acts_on(site))
    world.send(findings(finding("i-1")))
    world.run(95)
    assert world.incident("i-1").status is IncidentStatus.RESUMING
    world.send(findings(finding("i-2", seen=world.now)))
    world.run(1200)
    first, second = world.incident("i-1"), world.incident("i-2")
    assert site.times("suspend") == 2
    assert [who for what, who, _ in site.history if what == "resume"] == [first.id, second.id]
    assert not site.stopped["train/llm"]
    assert second.facts["confirmed_step"] == 901
    assert first.status is second.status is IncidentStatus.CLOSED


def test_a_hold_that_comes_before_the_resume_takes_the_resume_over() -> None:
    site = Site()
    world = World(lambda _: acts_on(site))
    world.send(findings(finding("i-1")))
    world.send(findings(finding("i-2")), after=50)
    world.run(1200)
    first, second = world.incident("i-1"), world.incident("i-2")
    assert site.times("suspend") == 1
    assert [who for what, who, _ in site.history if what == "resume"] == [second.id]
    assert first.status is second.status is IncidentStatus.CLOSED

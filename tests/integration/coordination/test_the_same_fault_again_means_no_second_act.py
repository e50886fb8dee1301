from policies.coordination.states import IncidentStatus
from tests.tools.fleet_acts import Site, acts_on
from tests.tools.incidents import at, finding, findings
from tests.tools.world import World


def told_again(seconds: float, name: str = "") -> tuple[World, Site]:
    site = Site()
    world = World(lambda _: acts_on(site))
    world.send(findings(finding("i-1")))
    world.send(findings(finding("i-1", name=name)), after=seconds)
    world.run(1200)
    return world, site


def test_the_same_finding_twice_at_once() -> None:
    world, site = told_again(0)
    assert len(world.store.all_incidents()) == 1
    assert site.times("replace") == 1
    assert world.incident("i-1").version == len(
        {entry.version for entry in world.incident("i-1").timeline}
    ) + _versions_without_a_line(world)


def _versions_without_a_line(world: World) -> int:
    incident = world.incident("i-1")
    return incident.version - len({entry.version for entry in incident.timeline})


def test_another_finding_of_the_node_while_it_is_being_replaced_joins() -> None:
    world, site = told_again(40, "another")
    incident = world.incident("i-1")
    assert [note.id for note in incident.findings] == ["finding-of-i-1", "another"]
    assert site.times("replace") == 1
    assert len(world.store.all_incidents()) == 1


def test_the_same_finding_after_the_replacement() -> None:
    world, site = told_again(800)
    assert len(world.store.all_incidents()) == 1
    assert site.times("replace") == 1


def test_a_new_finding_of_the_replaced_node_is_history() -> None:
    world, site = told_again(800, "late")
    incident = world.incident("i-1")
    assert incident.status is IncidentStatus.CLOSED
    assert incident.findings[-1].late
    assert site.times("replace") == 1


def test_a_new_epoch_of_the_same_instance_is_another_node() -> None:
    site = Site()
    world = World(lambda _: acts_on(site))
    world.send(findings(finding("i-1")))
    world.run(800)
    world.send(findings(finding("i-1", name="later", seen=at(800), epoch=1)))
    world.run(1600)
    assert [each.status for each in world.store.all_incidents()] == [IncidentStatus.CLOSED] * 2

"""A bad image makes node after node fail: after a few acts the policy goes into shadow, and one page tells it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.contract.restraints import Pace
from policies.coordination.states import IncidentStatus
from tests.tools.crashes import Crashes
from tests.tools.fleet_acts import Site, acts_on
from tests.tools.incidents import POLICY, at, finding, findings, plan
from tests.tools.world import World

PLAN = plan(deadline=6000, acts=Pace(at_most=3, within_seconds=3600))


class Storm(World):
    """One cluster whose nodes fail one after the other."""

    def __init__(self, count: int, apart: float, crashes: dict[int, str] | None = None) -> None:
        self.site = Site()
        super().__init__(lambda world: acts_on(self.site, world.crashes.guard), crashes=Crashes(crashes or {}))
        for number in range(count):
            self.fail(f"i-{number}", number * apart)
        self.sweep_every(60, until=12_000)

    def fail(self, node: str, seconds: float, name: str = "") -> None:
        made = finding(node, name=name, policy=PLAN, job=None, seen=at(seconds))
        self.send(findings(made), after=seconds)

    @property
    def acted(self) -> list[str]:
        return [each.node.instance_id for each in self.store.all_incidents() if each.acted]

    @property
    def paged(self) -> list[str]:
        return [each.id for each in self.store.all_incidents() if any(entry.alert == "page" for entry in each.timeline)]


def test_a_storm_ends_after_three_acts_with_one_page() -> None:
    world = Storm(8, 40)
    world.run(6000)
    assert world.acted == ["i-0", "i-1", "i-2"]
    assert all(each.status is IncidentStatus.CLOSED for each in world.store.all_incidents())
    shadow = world.switches.shadows[POLICY]
    assert world.paged == [shadow.incident]
    assert world.site.times("replace") == 3


def test_a_person_lifts_it_and_it_acts_on_what_fails_then() -> None:
    world = Storm(5, 40)
    world.run(1000)
    shadow = world.switches.shadows[POLICY]
    world.switches.put_in_shadow(shadow.model_copy(update={"lifted_at": world.now, "version": 2}))
    world.fail("i-9", 60)
    world.run(3000)
    assert world.acted == ["i-0", "i-1", "i-2", "i-9"]


@settings(max_examples=150)
@given(
    apart=st.sampled_from([0, 1, 5, 40]),
    crashes=st.dictionaries(st.integers(0, 160), st.sampled_from(["before", "after"]), max_size=3),
    twice=st.sets(st.integers(0, 5)),
)
def test_whatever_dies_or_repeats_no_act_is_one_too_many_and_somebody_hears_of_it(
    apart: float, crashes: dict[int, str], twice: set[int]
) -> None:
    world = Storm(6, apart, crashes)
    for number in twice:
        made = finding(f"i-{number}", policy=PLAN, job=None, seen=at(number * apart))
        world.send(findings(made), after=number * apart + 7)
    world.run(9000)
    assert len(world.acted) <= 3
    assert len(world.acted) == world.site.times("replace")
    if world.given_up:  # a message that died three times may have been the one that tells
        return
    assert len(world.acted) == 3
    assert world.switches.shadows[POLICY].incident in world.paged
    recorded = [each for each in world.store.all_incidents() if not each.acted]
    assert sum(each.id in world.paged for each in recorded) == 1

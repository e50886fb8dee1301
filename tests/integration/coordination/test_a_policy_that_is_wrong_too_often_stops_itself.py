"""A policy replaces sound nodes: once a person has said so often enough it goes into shadow, and one page tells it."""

from hypothesis import given, settings
from hypothesis import strategies as st

from functions.outbox.changes import Change
from functions.outbox.telling import tell
from policies.contract.restraints import Trust, VerdictMessage
from policies.contract.vocabulary import Action
from policies.coordination.incident import Incident
from policies.coordination.snapshot import Keys
from policies.precision.record import Grade, Record
from policies.precision.verdicts import precision_of
from tests.tools.crashes import Crashes
from tests.tools.fleet_acts import Site, acts_on
from tests.tools.incidents import CLUSTER, POLICY, at, finding, findings, plan
from tests.tools.world import World

PLAN = plan(Action.ISOLATE, Action.REPLACE_NODE, deadline=6000, trust=Trust(at_least=0.7, of=3))
ACTS, SAID = 4, 3000  # so many nodes fail; what persons say comes after all acts
LATER = 100_000  # more than a day after the last act


class Wrong(World):
    """One cluster in which two of four replaced nodes were sound, as a person finds out."""

    def __init__(self, crashes: dict[int, str] | None = None, repeats: tuple[int, ...] = ()) -> None:
        self.site = Site()
        super().__init__(lambda world: acts_on(self.site, world.crashes.guard), crashes=Crashes(crashes or {}))
        for number in range(ACTS):
            for extra in (0, *(300 for each in repeats if each == number)):
                made = finding(f"i-{number}", policy=PLAN, job=None, seen=at(number * 40))
                self.send(findings(made), after=number * 40 + extra)
        self.sweep_every(60, until=SAID + 3000)
        self.run(SAID)
        for number, word in enumerate(("faulty", "healthy", "faulty", "healthy")):
            message = VerdictMessage(
                cluster=CLUSTER,
                incident=self.incident(f"i-{number}").id,
                verdict="healthy" if word == "healthy" else "faulty",
                by="ann",
                at=at(SAID + number),
            )
            for extra in (0, *(50 for each in repeats if each == number)):
                self.send(message, after=number * 5 + extra)
        self.run(SAID + 3000)

    @property
    def record(self) -> Record | None:
        return self.store.read(CLUSTER, Keys(records=frozenset({POLICY}))).records[POLICY]

    @property
    def paged(self) -> list[Incident]:
        each = self.store.all_incidents()
        return [one for one in each for entry in one.timeline if entry.alert == "page"]


def test_it_stops_itself_and_the_outbox_pages_through_the_incident_that_tipped_it() -> None:
    world = Wrong()
    found = precision_of(world.record, at(LATER))
    assert (found.acts, found.faulty, found.healthy, found.presumed) == (4, 2, 2, 0)
    shadow = world.switches.shadows[POLICY]
    (paged,) = world.paged
    assert (paged.id, paged.node.instance_id) == (shadow.incident, "i-2")
    entry = next(each for each in paged.timeline if each.stage == "distrusted")
    told = tell(Change(paged, (entry,), first=False))
    assert (told.type, told.detail["alert"]) == ("Incident Distrusted", "page")
    assert "has put itself in shadow: only" in told.detail["text"]
    assert told.detail["text"].startswith("PAGE: ")


@settings(max_examples=60, deadline=None)
@given(
    crashes=st.dictionaries(st.integers(0, 220), st.sampled_from(["before", "after"]), max_size=3),
    repeats=st.lists(st.integers(0, ACTS - 1), max_size=3).map(tuple),
)
def test_whatever_dies_or_repeats_each_act_is_known_once_and_one_page_tells(
    crashes: dict[int, str], repeats: tuple[int, ...]
) -> None:
    world = Wrong(crashes, repeats)
    if world.given_up:  # a message that died three times may have been the one that tells
        return
    assert world.record
    assert len(world.record.acts) == ACTS
    said = {each.node: [(ground.grade, ground.faulty) for ground in each.grounds] for each in world.record.acts}
    assert said == {f"i-{number}": [(Grade.PERSON, number % 2 == 0)] for number in range(ACTS)}
    assert all(each.replaced and each.successor and each.verified_at for each in world.record.acts)
    assert [each.id for each in world.paged] == [world.switches.shadows[POLICY].incident]

from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.contract.decisions import Answer
from policies.contract.rungs import Rung
from policies.contract.vocabulary import PolicyMode
from policies.coordination.incident import Incident
from policies.coordination.states import IncidentStatus
from policies.coordination.switches import EVERYTHING
from tests.tools.crashes import Crashes
from tests.tools.fleet_acts import Site, acts_on
from tests.tools.incidents import POLICY, at, finding, findings, plan
from tests.tools.world import World

TAKES_AWAY = {Rung.ISOLATE: "isolate", Rung.SUSPEND_JOB: "suspend", Rung.REPLACE_NODE: "replace"}
WAYS = ("off", "shadow", "deleted", "stop")


class Watched(World):
    """Keeps when it was first read that the policy may not act, and every act that coordinate ordered."""

    site: Site
    read_at: datetime | None = None

    def watch(self, site: Site) -> "Watched":
        self.site = site
        self.ordered: list[tuple[datetime, Answer]] = []
        read, answer = self.coordinator.switches.read, self.executions.answer

        def reading(policies: object) -> object:
            found = read(policies)  # type: ignore[arg-type]
            if self.read_at is None and found.why_not(POLICY):
                self.read_at = self.now
            return found

        def answering(token: str, told: Answer) -> bool:
            self.ordered.append((self.now, told))
            return answer(token, told)

        self.coordinator.switches.read = reading  # type: ignore[method-assign, assignment]
        self.executions.answer = answering  # type: ignore[method-assign, assignment]
        return self

    def turn_off(self, way: str) -> None:
        if way == "stop":
            self.policies.put_live({"name": EVERYTHING, "mode": "off", "edited_by": "kim"})
        else:
            self.set_mode(PolicyMode.SHADOW if way == "shadow" else PolicyMode.OFF)

    def nothing_taken_away_afterwards(self) -> None:
        """No rung that takes something away was ordered, let alone done, once it was read that none may be."""
        if self.read_at is None:
            return
        for when, told in self.ordered:
            if when > self.read_at and told.verdict == "act" and told.rung in TAKES_AWAY:
                assert told.rung is Rung.REPLACE_NODE
                assert self._replaced(told.incident), "only a replacement that has begun goes on"
        known = {
            (told.incident, TAKES_AWAY[told.rung])
            for when, told in self.ordered
            if when <= self.read_at and told.verdict == "act" and told.rung in TAKES_AWAY
        }
        for what, incident, when in self.site.history:
            if when > self.read_at and what in TAKES_AWAY.values():
                assert (incident, what) in known

    def _replaced(self, incident: str) -> bool:
        return any(what == "replace" and whose == incident for what, whose, _ in self.site.history)

    def is_anybody_asked(self) -> bool:
        """Whether a run that is down has somebody who was paged for it."""
        return any(entry.alert == "page" for each in self.store.all_incidents() for entry in each.timeline)


def told(*nodes: str, crashes: dict[int, str] | None = None) -> Watched:
    site = Site()
    world = Watched(lambda world: acts_on(site, world.crashes.guard), crashes=Crashes(crashes or {}))
    world.watch(site)
    for node in nodes or ("i-1",):
        world.send(findings(finding(node, policy=plan(deadline=6000))))
    world.sweep_every(60, until=9000)
    return world


def stages(incident: Incident) -> list[str]:
    return [entry.stage for entry in incident.timeline]


@pytest.mark.parametrize("way", WAYS)
def test_before_it_has_touched_anything_it_is_only_recorded(way: str) -> None:
    world = told()
    world.after(10, lambda: world.turn_off(way))
    world.run(600)
    incident = world.incident("i-1")
    assert (incident.status, incident.outcome) == (IncidentStatus.CLOSED, "recorded")
    assert not world.site.history


@pytest.mark.parametrize("way", WAYS)
def test_a_run_that_was_stopped_waits_with_a_page_before_the_node_is_given_up(way: str) -> None:
    world = told()
    world.after(24, lambda: world.turn_off(way))
    world.run(600)
    incident = world.incident("i-1")
    assert incident.status is IncidentStatus.PARKED
    assert world.site.times("suspend") == 1
    assert world.site.times("replace") == 0
    assert "run train/llm" in incident.reason
    assert world.is_anybody_asked()


@pytest.mark.parametrize("way", WAYS)
def test_once_the_node_was_given_up_the_run_comes_back(way: str) -> None:
    world = told()
    world.after(70, lambda: world.turn_off(way))
    world.run(1200)
    incident = world.incident("i-1")
    assert incident.status is IncidentStatus.CLOSED
    assert stages(incident)[-4:] == ["checkpoint_chosen", "resumed", "confirmed", "closed"]
    assert not world.site.stopped["train/llm"]
    world.nothing_taken_away_afterwards()


def test_what_was_stopped_is_started_again_for_new_faults_only() -> None:
    world = told()
    world.after(10, lambda: world.turn_off("stop"))
    world.after(300, lambda: world.policies.put_live({"name": EVERYTHING, "mode": "active"}))
    world.send(findings(finding("i-2", seen=at(400), policy=plan(deadline=6000))), after=400)
    world.run(2000)
    assert world.incident("i-1").outcome == "recorded"
    assert world.incident("i-2").outcome == "replaced"


@settings(max_examples=120)
@given(
    moment=st.floats(0, 160),
    way=st.sampled_from(WAYS),
    crashes=st.dictionaries(st.integers(0, 150), st.sampled_from(["before", "after"]), max_size=4),
    second=st.floats(0, 80),
)
def test_no_act_after_off_was_read_whenever_it_comes_and_whatever_dies(
    moment: float, way: str, crashes: dict[int, str], second: float
) -> None:
    world = told(crashes=crashes)
    world.send(findings(finding("i-2", policy=plan(deadline=6000))), after=second)
    world.after(moment, lambda: world.turn_off(way))
    world.run(9000)
    world.nothing_taken_away_afterwards()
    assert not any(each.status.is_running for each in world.store.all_incidents())
    if world.site.stopped.get("train/llm"):
        assert world.is_anybody_asked()

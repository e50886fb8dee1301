"""However findings, refusals, closings and sweeps come: what counts still as a no ends is asked for, and once."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.contract.decisions import CloseMessage, Finding, SweepMessage
from policies.coordination.denying import is_recorded_for_a_no
from policies.coordination.incident import Incident
from policies.coordination.rules import STALE_SECONDS
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, ask, at, findings, plan
from tests.tools.refusals import gpu, no, opened, seen

POLICIES = (plan(approval=True, settle=0), plan(approval=True, settle=0, name="other", priority=1))
FRESH = STALE_SECONDS[POLICIES[0].evidence]
FOUND, NO, AGAIN, CLOSE, SWEEP, REPEAT = "found", "no", "no, said of one that is closed", "close", "sweep", "repeat"
STEP = st.tuples(
    st.integers(1, 100),
    st.sampled_from((FOUND, FOUND, FOUND, NO, AGAIN, CLOSE, SWEEP, SWEEP, SWEEP, REPEAT)),
    st.sampled_from((0, 0, 0, 1)),
    st.sampled_from((0, 0, 0, 1)),
    st.sampled_from((0.0, 0.02, 0.04)),
)


@dataclass
class Story:
    table: DecisionTable = field(default_factory=DecisionTable)
    now: float = 0.0
    told: list[Finding] = field(default_factory=list)
    let_go: float = -1.0  # when somebody had the node in hand last
    holds: dict[str, float] = field(default_factory=dict)  # until when, by denied incident

    def work(self) -> None:
        """Have whoever is at work ask, as its execution does at once."""
        for each in opened(self.table):
            if each.status.is_running:
                self.table.answer(self.now, ask(each.id, step=each.ask.step + 1 if each.ask else 0))

    def find(self, policy: int, part: int) -> None:
        finding = seen(self.now, POLICIES[policy], component=gpu(part))
        self.told.append(finding)
        self.table.take(self.now, findings(finding))
        self.work()

    def deny(self, incident: Incident, hours: float) -> None:
        self.table.take(self.now, no(incident, self.now, hours=hours, seen=incident.version))
        self.holds[incident.id] = self.now + hours * 3600
        if incident.status.is_open:
            self.let_go = self.now

    def sweep(self) -> None:
        self.table.take(self.now, SweepMessage(cluster=CLUSTER, at=at(self.now)))
        self.work()
        before = list(self.table.incidents)
        self.table.take(self.now, SweepMessage(cluster=CLUSTER, at=at(self.now)))
        assert self.table.incidents == before, "twice in a moment is as once"

    def step(self, what: str, policy: int, part: int, hours: float) -> None:
        closed = [each for each in self.table.incidents if each.outcome == "denied"]
        if what == FOUND:
            self.find(policy, part)
        elif what == NO and opened(self.table):
            self.deny(opened(self.table)[0], hours)
        elif what == AGAIN and closed and not opened(self.table):
            self.deny(closed[-1], hours)
        elif what == CLOSE and opened(self.table):
            told = CloseMessage(cluster=CLUSTER, incident=opened(self.table)[0].id, by="ann", reason="done")
            self.table.take(self.now, told)
            self.let_go = self.now
        elif what == SWEEP:
            self.sweep()
        elif what == REPEAT and self.told:
            self.table.take(self.now, findings(self.told[-1]))
            self.work()

    def stands(self) -> bool:
        """Whether anything was recorded for a no that is over by now, counts still, and was nobody's since."""
        return any(
            self.holds[str(each.facts["denied"])] <= self.now
            and (self.now - _last(each)) <= FRESH
            and _last(each) > self.let_go
            for each in self.table.incidents
            if is_recorded_for_a_no(each)
        )


def _last(recorded: Incident) -> float:
    return (recorded.findings[0].last_observed_at - at(0)).total_seconds()


@settings(max_examples=60, deadline=None)
@given(st.lists(STEP, min_size=4, max_size=30))
def test_what_still_counts_is_asked_for_and_nothing_else(steps: list[tuple[int, str, int, int, float]]) -> None:
    story = Story()
    for what in (FOUND, NO):
        story.step(what, 0, 0, 0.04)
    for pause, what, policy, part, hours in steps:
        story.now += pause
        story.step(what, policy, part, hours)
        assert len(opened(story.table)) <= 1, "a node is one question"
        if what == SWEEP and all(until <= story.now for until in story.holds.values()):
            assert not story.stands() or opened(story.table), "somebody is asked"
    for _minute in range(20):
        story.now += 60
        story.sweep()
    asked = [each for each in story.table.incidents if not is_recorded_for_a_no(each)]
    paged = [entry for each in story.table.incidents for entry in each.timeline if entry.alert == "page"]
    assert len(asked) <= len(paged) <= len(asked) + len(story.told), "one page a question, and what joined one"
    ids = [note.id for each in asked for note in each.findings]
    assert len(ids) == len(set(ids)), "no finding is asked for twice"

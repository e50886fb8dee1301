"""However findings, refusals and approvals come: one page a refusal's time, no act while it holds, and then again."""

import random
from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.contract.decisions import CloseMessage, PolicyPlan
from policies.contract.restraints import ApproveMessage
from policies.coordination.denials import DENIED_SECONDS, MOST_DENIALS, Denial, denial_of, standing, with_word
from policies.coordination.incident import Incident
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, ask, at, finding, findings, plan

PLANS = (plan(approval=True, settle=0), plan(approval=True, settle=0, name="other"))
SPANS = (0.0, 60.0, 600.0, None)
FOUND, NO, AGAIN, YES = "found", "no", "no, said of one that is closed", "yes, and it is seen to"
STEP = st.tuples(
    st.integers(1, 400),
    st.sampled_from((FOUND, FOUND, FOUND, NO, AGAIN, YES)),
    st.integers(0, 1),
    st.sampled_from(SPANS),
    st.booleans(),
)


@dataclass
class Story:
    """The table, and until when each policy's refusals hold, by incident: what was said, not what is kept of it."""

    table: DecisionTable = field(default_factory=DecisionTable)
    seconds: float = 0.0
    words: list[ApproveMessage] = field(default_factory=list)
    holds: tuple[dict[str, float], dict[str, float]] = field(default_factory=lambda: ({}, {}))

    def mine(self, which: int) -> list[Incident]:
        return [each for each in self.table.incidents if each.policy.name == PLANS[which].name]

    def find(self, which: int) -> None:
        policy: PolicyPlan = PLANS[which]
        node = f"i-{which}"
        name = f"{policy.name}-{self.seconds}"
        held, before = any(self.seconds < until for until in self.holds[which].values()), self.mine(which)
        was_open = any(each.status.is_open for each in before)
        decision = self.table.take(
            self.seconds, findings(finding(node, name=name, policy=policy, seen=at(self.seconds)))
        )
        if held and not was_open:
            assert decision.starts == ()
            assert not any(each.status.is_open for each in self.mine(which))
        elif not was_open:
            assert [start.incident for start in decision.starts] == [self.open(which).id]
            assert self.table.answer(self.seconds, ask(self.open(which).id)).verdict == "parked"
        again = self.table.take(self.seconds, findings(finding(node, name=name, policy=policy, seen=at(self.seconds))))
        assert again.incidents == ()

    def open(self, which: int) -> Incident:
        (found,) = [each for each in self.mine(which) if each.status.is_open]
        return found

    def hold(self, which: int, incident: Incident, span: float | None) -> None:
        self.holds[which][incident.id] = self.seconds + (4 * 3600 if span is None else span)

    def say(self, incident: Incident, span: float | None, *, approved: bool = False, twice: bool = False) -> None:
        word = ApproveMessage(
            cluster=CLUSTER,
            incident=incident.id,
            by="ann",
            approved=approved,
            at=at(self.seconds),
            for_seconds=None if approved else span,
            seen=incident.version,
        )
        self.words.append(word)
        for _ in range(1 + twice):
            self.table.take(self.seconds, word)


@settings(max_examples=120, deadline=None)
@given(st.lists(STEP, min_size=1, max_size=30))
def test_nobody_is_asked_while_a_no_holds_and_somebody_is_once_it_is_over(
    steps: list[tuple[int, str, int, float | None, bool]],
) -> None:
    story = Story()
    for pause, what, which, span, twice in steps:
        story.seconds += pause
        mine = story.mine(which)
        waits = [each for each in mine if each.status.is_open and not each.approved_by]
        closed = [each for each in mine if each.outcome == "denied"]
        if what == FOUND:
            story.find(which)
        elif what == NO and waits:
            story.say(waits[0], span, twice=twice)
            story.hold(which, waits[0], span)
        elif what == AGAIN and closed and not any(each.status.is_open for each in mine):
            story.say(closed[len(closed) // 2], span, twice=twice)
            story.hold(which, closed[len(closed) // 2], span)
        elif what == YES and waits:
            story.say(waits[0], None, approved=True, twice=twice)
            acting = story.open(which)
            assert story.table.answer(story.seconds, ask(acting.id, attempt=2)).verdict == "act"
            story.holds[which].clear()
            story.table.take(story.seconds, CloseMessage(cluster=CLUSTER, incident=acting.id, by="ann", reason="done"))
        if twice and story.words:  # a message of before comes once more
            before = story.table.incidents
            story.table.take(story.seconds, story.words[0])
            assert [each.denials for each in story.table.incidents] == [each.denials for each in before]
    for which in (0, 1):
        asked = [each for each in story.mine(which) if each.outcome != "recorded"]
        paged = [entry for each in story.mine(which) for entry in each.timeline if entry.alert == "page"]
        assert len(paged) == len(asked)
        recorded = [each for each in story.mine(which) if each.outcome == "recorded"]
        assert len({each.reason for each in recorded}) == len(recorded)  # each no is told of once


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 20_000), st.sampled_from((*SPANS, 50_000.0))), min_size=1, max_size=MOST_DENIALS),
    st.randoms(use_true_random=False),
)
def test_what_was_said_comes_to_the_same_in_whichever_order_it_is_heard(
    said: list[tuple[int, float | None]], chance: random.Random
) -> None:
    words = [
        denial_of(
            ApproveMessage(
                cluster=CLUSTER, incident="1", by=f"p{number}", approved=False, at=at(seconds), for_seconds=span
            ),
            at(0),
            at(30_000),
        )
        for number, (seconds, span) in enumerate(said)
    ]
    heard: tuple[Denial, ...] = ()
    mixed = [*words, *words]
    chance.shuffle(mixed)
    for each in mixed:
        heard = with_word(heard, each)
    straight = tuple(sorted(words, key=lambda each: (each.at, each.id)))
    assert heard == straight
    last = straight[-1]
    if last.usual:
        assert standing(heard).until >= last.until
        assert (last.until - last.at).total_seconds() == DENIED_SECONDS
    elif last.at < last.until:
        assert standing(heard) == last
    else:
        assert standing(heard).until <= last.at

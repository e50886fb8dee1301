"""A no, a close by hand and a word on another part leave open whether a fault was real, for report and trust alike."""

import pytest

from policies.contract.restraints import Trust, VerdictWord
from policies.contract.vocabulary import Action, EvidenceRule, Kind, PolicyMode
from policies.coordination.incident import Incident
from policies.precision.verdicts import Precision
from policies.shadow.cases import Ending
from policies.shadow.report import Advice
from tests.tools.incidents import JOB, ask, at, finding, findings, plan
from tests.tools.judged import HOUR, ISOLATING
from tests.unit.policies.shadow.test_a_week_counted_by_hand import ASKING, MINUTE, SHY, WEEK, Week, told_of


@pytest.mark.parametrize("word", ["", "faulty", "healthy"])
@pytest.mark.parametrize("refused", [True, False])
def test_the_only_case_is_armed_by_a_word_alone(word: str, refused: bool) -> None:
    """Whatever its policy takes silence for, and whether it found it before the incident was closed or with it."""
    for evidence in EvidenceRule:
        policy = SHY.model_copy(update={"evidence": evidence})
        told = Week()
        told.found("n-1", HOUR, policy)
        asked = told.found("n-1", HOUR + MINUTE, ASKING)
        told.take(HOUR + 2 * MINUTE, ask(asked.id))
        told.found("n-1", HOUR + 3 * MINUTE, policy)
        if refused:
            told.deny(told.again(asked), 1.5)
        else:
            told.close(asked, 1.5)
        if word:
            told.say(asked, "faulty" if word == "faulty" else "healthy", 2 * HOUR)
        advice = {"": Advice.WAIT, "faulty": Advice.ARM, "healthy": Advice.MEND}[word]
        assert told_of(told.incidents, policy).advice is advice


def test_a_no_of_before_they_were_kept_is_told_by_its_last_line() -> None:
    """Once as it was written then: `denied: by NAME: WHY`."""
    told = Week()
    told.deny(told.asked("n-1", 1), 1.5, 0)

    def of_before(incident: Incident) -> Incident:
        lines = [
            each.model_copy(update={"detail": "denied: by root: a firmware test"}) if each.stage == "closed" else each
            for each in incident.timeline
        ]
        return incident.model_copy(update={"denials": (), "timeline": tuple(lines)})

    old = [of_before(each) if each.denials else each for each in told.incidents]
    (case,) = told_of(old).cases
    assert (case.ending, [(each.person, each.denied) for each in case.beside]) == (Ending.DENIED, [("root", True)])


def test_a_policy_is_trusted_less_by_verdicts_alone_and_never_by_a_no_or_a_close() -> None:
    """Two judged acts are enough, and both have to be right."""
    strict = ISOLATING.model_copy(update={"trust": Trust(at_least=1.0, of=2)})
    told = Week()
    for number in range(3):
        told.close(told.acted(f"n-{number}", number * HOUR, strict), number + 0.5)
        told.deny(told.asked(f"m-{number}", number + 0.1), number + 0.6)
    assert told.switches.self_shadow(strict.name) is None
    assert told.precision(strict, WEEK) == Precision(acts=3)
    told.say(told.newest("n-0"), "faulty", 4 * HOUR)
    assert told.switches.self_shadow(strict.name) is None
    told.say(told.newest("n-1"), "healthy", 5 * HOUR)
    assert told.switches.self_shadow(strict.name) is not None


def test_a_word_counts_for_its_own_part_alone() -> None:
    """Two GPUs of one node, told by the driver's address: what is said of the one says nothing of the other."""
    told = Week()
    told.found("n-1", HOUR, SHY)
    told.close(told.acted("n-1", HOUR + MINUTE, ISOLATING), 2)
    told.say(told.newest("n-1"), "healthy", 3 * HOUR)

    def on(incident: Incident, part: str) -> Incident:
        notes = tuple(note.model_copy(update={"component": part}) for note in incident.findings)
        return incident.model_copy(update={"findings": notes})

    mine = [each for each in told.incidents if each.policy.name == "shy"]
    theirs = [each for each in told.incidents if each.policy.name != "shy"]
    here, there = "gpu:0000:4b:00:GPU-aa", "gpu:0000:5d:00"
    same = told_of([*(on(each, here) for each in mine), *(on(each, "gpu:0000:4b:00") for each in theirs)])
    other = told_of([*(on(each, here) for each in mine), *(on(each, there) for each in theirs)])
    assert [one.cases[0].ending for one in (same, other)] == [Ending.HEALTHY, Ending.SILENT]


@pytest.mark.parametrize("word", ["healthy", "faulty"])
def test_a_word_on_a_node_says_nothing_of_whether_its_run_stood_still(word: VerdictWord) -> None:
    """A hang is a fault of the run; that somebody who replaced a node of it found that sound does not undo the hang."""
    hung = plan(Action.SUSPEND_JOB, Action.RESUME_JOB, mode=PolicyMode.SHADOW, name="hung")
    told = Week()
    told.found("n-1", HOUR, hung, kind=Kind.TRAINING_STALLED, job=JOB)
    found = finding("n-2", name="node", policy=ISOLATING, job=JOB, seen=at(HOUR + MINUTE))
    told.take(HOUR + MINUTE, findings(found))
    told.acted("n-2", HOUR + MINUTE, ISOLATING)
    told.say(told.newest("n-2"), word, 2 * HOUR)
    (case,) = told_of(told.incidents, hung).cases
    assert (case.ending, [(each.policy, each.same, each.of_run) for each in case.beside]) == (
        Ending.ANSWERED,
        [("isolating", False, True)],
    )

"""A policy whose acts are too often on sound hardware puts itself in shadow, says so once; a person alone ends it."""

from policies.contract.restraints import Trust, VerdictWord
from policies.contract.vocabulary import Action, Kind, PolicyMode
from policies.coordination.snapshot import Decision
from policies.coordination.switches import Switches
from tests.tools.incidents import at, plan
from tests.tools.judged import DAY, HOUR, TELLING, Judged, verdict

POLICY = plan(
    Action.ISOLATE, Action.REPLACE_NODE, settle=0, deadline=3600, name="replacing", trust=Trust(at_least=0.8, of=5)
)


def four_of_five(told: Judged) -> None:
    """Have four acts presumed right, and a fifth of which nothing is known yet."""
    for day in range(4):
        told.acted(f"i-{day}", day * DAY, POLICY)
    told.acted("i-4", 5 * DAY, POLICY)


def two_wrong() -> Judged:
    told = Judged()
    four_of_five(told)
    told.say(told.newest("i-4"), "healthy", 5 * DAY + HOUR)
    told.acted("i-5", 6 * DAY, POLICY)
    told.say(told.newest("i-5"), "healthy", 6 * DAY + HOUR)
    return told


def test_it_is_trusted_at_its_share_and_not_below() -> None:
    told = Judged()
    four_of_five(told)
    told.say(told.newest("i-4"), "healthy", 5 * DAY + HOUR)
    assert told.precision(POLICY, 5 * DAY + HOUR).value == 0.8
    assert told.switches.self_shadow("replacing") is None
    told.acted("i-5", 6 * DAY, POLICY)
    told.say(told.newest("i-5"), "healthy", 6 * DAY + HOUR)
    shadow = told.switches.self_shadow("replacing")
    assert shadow
    assert shadow.incident == told.newest("i-5").id
    assert shadow.why == "only 4 of 6 judged acts were on faulty hardware, and it is trusted from 80% on"


def test_it_pages_once_through_the_incident_that_tipped_it() -> None:
    told = two_wrong()
    told.say(told.newest("i-5"), "healthy", 6 * DAY + 2 * HOUR)
    told.say(told.newest("i-4"), "healthy", 6 * DAY + 3 * HOUR)
    ((node, text),) = told.pages
    assert node == "i-5"
    assert text.startswith("policy replacing has put itself in shadow: only 4 of 6 judged acts")
    assert "`relight policy set-mode replacing active`" in text
    last = next(entry for entry in told.newest("i-5").timeline if entry.stage == "distrusted")
    assert last.alert == "page"


def test_what_it_finds_from_then_on_is_recorded() -> None:
    told = two_wrong()
    assert told.found("i-9", 7 * DAY, POLICY).outcome == "recorded"


def test_too_few_judged_acts_say_nothing() -> None:
    told = Judged()
    for day in range(4):
        told.say(told.acted(f"i-{day}", day * DAY, POLICY), "healthy", day * DAY + HOUR)
    assert told.switches.self_shadow("replacing") is None
    told.say(told.acted("i-4", 4 * DAY, POLICY), "healthy", 4 * DAY + HOUR)
    assert told.switches.self_shadow("replacing")


def test_a_successor_with_the_same_fault_tips_it_as_well_through_the_act_that_was_wrong() -> None:
    told = Judged()
    four_of_five(told)
    told.say(told.newest("i-3"), "healthy", 5 * DAY + HOUR)
    told.found("i-4'", 5 * DAY + 2 * HOUR, POLICY)
    shadow = told.switches.self_shadow("replacing")
    assert shadow
    assert shadow.incident == told.newest("i-4").id
    assert [node for node, _ in told.pages] == ["i-4"]


def test_a_person_lifts_it_and_what_was_before_counts_no_more() -> None:
    told = two_wrong()
    shadow = told.switches.self_shadow("replacing")
    assert shadow
    lifted = shadow.model_copy(update={"lifted_at": at(7 * DAY), "lifted_by": "kim", "version": 2})
    told.switches = told.switches.with_shadow(lifted)
    told.say(told.newest("i-5"), "healthy", 7 * DAY + HOUR)
    told.say(told.newest("i-0"), "healthy", 7 * DAY + HOUR)
    assert told.switches.self_shadow("replacing") is None
    for day in range(8, 13):
        told.say(told.acted(f"i-{day}", day * DAY, POLICY), "healthy", day * DAY + HOUR)
    again = told.switches.self_shadow("replacing")
    assert again
    assert (again.version, again.incident) == (3, told.newest("i-12").id)
    assert [node for node, _ in told.pages] == ["i-5", "i-12"]


def test_a_policy_that_is_in_shadow_or_off_anyway_wakes_nobody() -> None:
    told = Judged()
    four_of_five(told)
    told.say(told.newest("i-4"), "healthy", 5 * DAY + HOUR)
    told.switches = Switches({"replacing": PolicyMode.SHADOW})
    told.say(told.newest("i-3"), "healthy", 6 * DAY)
    assert (told.switches.self_shadow("replacing"), told.pages) == (None, [])


def test_a_plan_of_before_it_was_measured_is_not_weighed() -> None:
    told = Judged()
    old = POLICY.model_copy(update={"trust": None})
    for day in range(8):
        told.say(told.acted(f"i-{day}", day * DAY, old), "healthy", day * DAY + HOUR)
    assert told.switches.self_shadow("replacing") is None


def test_good_acts_that_grow_old_put_nobody_in_shadow_until_the_next_verdict() -> None:
    told = Judged()
    four_of_five(told)
    told.say(told.newest("i-4"), "healthy", 5 * DAY + HOUR)
    for day in range(85, 90):
        told.acted(f"i-{day}", day * DAY, POLICY)
    told.say(told.newest("i-89"), "healthy", 89 * DAY + HOUR)
    assert told.switches.self_shadow("replacing") is None
    told.found("i-99", 94 * DAY, POLICY)
    assert told.precision(POLICY, 94.5 * DAY).value == 4 / 6
    assert told.switches.self_shadow("replacing") is None
    told.say(told.newest("i-88"), "faulty", 94.5 * DAY)
    assert told.switches.self_shadow("replacing")


def test_a_verdict_that_makes_them_enough_tips_it_whatever_it_says() -> None:
    told = Judged()
    words: tuple[VerdictWord, ...] = ("healthy", "healthy", "faulty", "faulty")
    for day, word in enumerate(words):
        told.say(told.acted(f"i-{day}", day * DAY, POLICY), word, day * DAY + HOUR)
    assert told.switches.self_shadow("replacing") is None
    told.say(told.acted("i-4", 4 * DAY, POLICY), "faulty", 4 * DAY + HOUR)
    assert [node for node, _ in told.pages] == ["i-4"]
    assert "on this node, which was faulty (ann: looked)" in told.pages[0][1]


def test_a_word_of_aws_that_makes_them_enough_tips_it_as_well() -> None:
    told = Judged()
    for day in range(3):
        told.say(told.acted(f"i-{day}", day * DAY, POLICY), "healthy", day * DAY + HOUR)
    told.acted("i-3", 3 * DAY, POLICY)
    told.acted("i-4", 4 * DAY, POLICY)
    assert told.precision(POLICY, 4 * DAY + HOUR).judged == 4  # i-3 presumed right
    told.found("i-4", 4 * DAY + HOUR, TELLING, kind=Kind.INSTANCE_STATUS_IMPAIRED)
    shadow = told.switches.self_shadow("replacing")
    assert shadow
    assert shadow.why == "only 2 of 5 judged acts were on faulty hardware, and it is trusted from 80% on"
    assert [node for node, _ in told.pages] == ["i-4"]
    assert told.found("i-9", 5 * DAY, POLICY).outcome == "recorded"


def test_whoever_died_between_two_writes_ends_the_same() -> None:
    whole = two_wrong()
    for written in range(4):
        told = Judged()
        four_of_five(told)
        told.say(told.newest("i-4"), "healthy", 5 * DAY + HOUR)
        told.acted("i-5", 6 * DAY, POLICY)
        message = verdict(told.newest("i-5"), "healthy", 6 * DAY + HOUR)
        half = told.decide(6 * DAY + HOUR, message)
        assert (len(half.records), len(half.shadows), len(half.incidents)) == (1, 1, 1)
        told.commit(Decision(
            records=half.records if written > 0 else (),
            shadows=half.shadows if written > 1 else (),
            incidents=half.incidents if written > 2 else (),
        ))  # fmt: skip
        told.take(6 * DAY + HOUR, message)
        assert told.pages == whole.pages
        assert told.record(POLICY) == whole.record(POLICY)
        assert told.switches.self_shadow("replacing") == whole.switches.self_shadow("replacing")
        assert told.take(6 * DAY + HOUR + 60, message) == Decision(retold=(told.newest("i-5"),))

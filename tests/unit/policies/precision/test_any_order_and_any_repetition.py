"""What is known of acts and restarts is the same in whatever order it comes, and however often."""

from datetime import timedelta
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.contract.decisions import AnyMessage, Finding
from policies.contract.events import JobRef
from policies.contract.restraints import VerdictMessage
from policies.contract.rungs import Rung, RungStatus
from policies.contract.vocabulary import Kind
from policies.coordination.judgements import Judgement, judged
from policies.precision.acts import act_of
from policies.precision.misses import MOST_RESTARTS, Misses, Restart, misses_of, restarts_of, with_restarts
from policies.precision.record import MOST_ACTS, RANK, Act, Grade, Ground, Record, with_act, with_grounds
from policies.precision.verdicts import precision_of, verdict_of
from tests.tools.incidents import CLUSTER, START, ask, at, finding, findings, report
from tests.tools.judged import DAY, REPLACING, RESETTING, TELLING, Judged, verdict

EMPTY = Record(cluster=CLUSTER, policy="p")
grounds = st.builds(
    Ground,
    grade=st.sampled_from([Grade.AWS, Grade.RECURRENCE]),
    faulty=st.booleans(),
    at=st.integers(0, 50).map(at),
    why=st.sampled_from("ab"),
)
steps = st.one_of(
    st.tuples(st.just("act"), st.integers(0, 5), grounds),
    st.tuples(st.just("ground"), st.integers(0, 5), grounds),
)


def act(number: int, seconds: float = 0.0) -> Act:
    return Act(incident=f"{number}", at=at(seconds or number), node=f"i-{number}", generation=f"i-{number}#0")


def told(record: Record, how: str, number: int, ground: Ground) -> Record:
    return with_act(record, act(number), START) if how == "act" else with_grounds(record, [(f"{number}", ground)])


@settings(deadline=None)
@given(st.lists(steps, max_size=20), st.randoms(use_true_random=False))
def test_once_its_acts_are_there_a_record_is_the_same_however_it_was_told(
    each: list[tuple[str, int, Ground]], dice: Random
) -> None:
    begun = EMPTY
    for number in range(6):
        begun = with_act(begun, act(number), START)
    once, again = begun, begun
    for step in each:
        once = told(once, *step)
    shuffled = [*each, *each[:5]]
    dice.shuffle(shuffled)
    for step in shuffled:
        again = told(again, *step)
    assert again == once


@given(st.lists(grounds, min_size=1, max_size=8))
def test_the_strongest_ground_counts_and_of_one_grade_the_earliest(each: list[Ground]) -> None:
    record = with_grounds(with_act(EMPTY, act(1), START), [("1", ground) for ground in each])
    found = verdict_of(record.acts[0], at(9 * DAY))
    assert found
    assert found.grade == min((ground.grade for ground in each), key=RANK.__getitem__)
    assert found.at == min(ground.at for ground in each if ground.grade == found.grade)


def test_the_newest_acts_stay_and_what_is_older_than_90_days_goes() -> None:
    record = EMPTY
    for number in range(1, MOST_ACTS + 6):
        record = with_act(record, act(number), START)
    assert [each.incident for each in record.acts] == [f"{number}" for number in range(6, MOST_ACTS + 6)]
    assert len(record.to_json()) < 40_000
    later = with_act(record, act(9_999, 91 * DAY), at(91 * DAY))
    assert [each.incident for each in later.acts] == ["9999"]


def test_an_act_that_is_noted_again_changes_nothing() -> None:
    record = with_act(EMPTY, act(1), START)
    assert with_act(record, act(1), START) is record
    assert with_grounds(record, []) is record
    assert with_grounds(record, [("unknown", Ground(grade=Grade.AWS, faulty=True, at=START))]) is record


words = st.builds(
    lambda word, policy, seconds, by: verdict_message(
        word, policy if word in {"missed", "unknown"} else "", seconds, by
    ),
    st.sampled_from(["faulty", "healthy", "missed", "unknown"]),
    st.sampled_from(["p", "q"]),
    st.integers(0, 5),
    st.sampled_from(["ann", "kim"]),
)


def verdict_message(word: str, policy: str, seconds: float, by: str) -> VerdictMessage:
    base = verdict(OPENED, "unknown", seconds, policy)
    return base.model_copy(update={"verdict": word, "by": by})


OPENED = Judged().found("i-1", 0, RESETTING)


@given(st.lists(words, max_size=8), st.randoms(use_true_random=False))
def test_of_what_persons_say_the_latest_counts_whichever_arrives_first(
    said: list[VerdictMessage], dice: Random
) -> None:
    once: tuple[Judgement, ...] = ()
    again: tuple[Judgement, ...] = ()
    for message in said:
        once = judged(once, message)
    shuffled = [*said, *said[:3]]
    dice.shuffle(shuffled)
    for message in shuffled:
        again = judged(again, message)
    assert again == once


ROUND = 300.0


def news(told: Judged) -> list[AnyMessage]:
    """Return what becomes known of four acts and two runs within the hour, each message by itself."""
    wrong, right = told.newest("i-1"), told.newest("i-2")
    job = JobRef(id="train/a")
    found: list[Finding] = [
        finding("i-1'", name="again", seen=at(3 * ROUND), policy=REPLACING, job=None),
        finding("i-3", name="mended", seen=at(4 * ROUND), policy=RESETTING, job=None),
        finding("i-4", name="aws", seen=at(5 * ROUND), policy=TELLING, job=None, kind=Kind.INSTANCE_STATUS_IMPAIRED),
        finding("n-1", name="end", seen=at(6 * ROUND), policy=TELLING, job=job, kind=Kind.JOB_FAILED),
        finding("n-2", name="before", seen=at(6 * ROUND - 60), policy=TELLING, job=job),
        finding("n-3", name="end-2", seen=at(9 * ROUND), policy=TELLING, job=JobRef(id="b"), kind=Kind.JOB_FAILED),
        finding("n-4", name="late", seen=at(10 * ROUND), policy=RESETTING, job=JobRef(id="b")).model_copy(
            update={"first_observed_at": at(9 * ROUND - 5)}
        ),
    ]
    messages: list[AnyMessage] = [findings(each) for each in found]
    return [
        *messages,
        verdict(right, "healthy", 7 * ROUND),
        verdict(right, "unknown", 8 * ROUND),
        verdict(wrong, "missed", 8 * ROUND, "resetting"),
    ]


def acted() -> Judged:
    told = Judged()
    for number, policy in enumerate((REPLACING, REPLACING, RESETTING, RESETTING), start=1):
        told.acted(f"i-{number}", number, policy)
    return told


def outcome(told: Judged) -> object:
    misses = [(miss.job, miss.policies) for miss in told.misses(3 * DAY)]
    return told.known(REPLACING, 3 * DAY), told.known(RESETTING, 3 * DAY), misses


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False), st.lists(st.integers(0, 9), max_size=4), st.integers(1, 4))
def test_news_of_one_hour_ends_the_same_in_any_order_however_they_are_packed(
    dice: Random, repeats: list[int], size: int
) -> None:
    plain, shuffled = acted(), acted()
    for message in news(plain):
        plain.take(11 * ROUND, message)
    assert outcome(plain) == (
        [("i-1", "healthy by recurrence"), ("i-2", "faulty by quiet")],
        [("i-3", "faulty by recurrence"), ("i-4", "faulty by aws")],
        [("", ("resetting",)), ("b", ("resetting",))],
    )
    each = news(shuffled)
    each += [each[number] for number in repeats]
    dice.shuffle(each)
    for start in range(0, len(each), size):
        shuffled.take(11 * ROUND, *each[start : start + size])
    assert outcome(shuffled) == outcome(plain)


def test_a_successor_that_failed_before_anybody_knew_whose_place_it_took_speaks_against_the_act() -> None:
    told = Judged()
    incident = told.found("i-1", 0, REPLACING)
    told.take(0, ask(incident.id))
    told.take(60, ask(incident.id, 1, report=report(Rung.ISOLATE, when=at(60))))
    told.take(120, ask(incident.id, 2, report=report(Rung.COLLECT_EVIDENCE, when=at(120))))
    told.found("i-9", 200, REPLACING)
    told.take(240, ask(incident.id, 3, report=report(Rung.REPLACE_NODE, when=at(180), new_instance="i-9")))
    assert told.known(REPLACING, 300) == [("i-1", "healthy by recurrence")]


def test_a_check_that_passed_before_anything_was_mended_says_that_the_node_was_well() -> None:
    told = Judged()
    incident = told.acted("i-1", 0, RESETTING)
    done = (Rung.ISOLATE, Rung.VERIFY_NODE, Rung.RESET_GPU)
    well = act_of(incident.model_copy(update={"done": done}))
    assert well
    assert [(ground.grade, ground.faulty) for ground in well.grounds] == [(Grade.CHECK, False)]
    mended = act_of(incident)
    assert mended
    assert mended.grounds == ()


def test_a_failed_check_of_a_successor_says_nothing_of_what_it_replaced() -> None:
    told = Judged()
    told.acted("i-1", 0, REPLACING, verified=False)
    assert told.newest("i-1").failures[0].rung is Rung.VERIFY_NODE
    assert told.known(REPLACING, 9 * DAY) == [("i-1", "unknown")]


def test_what_touched_no_hardware_is_no_act() -> None:
    told = Judged()
    incident = told.found("i-1", 0, REPLACING)
    told.take(0, ask(incident.id))
    assert told.record(REPLACING) is None
    told.take(60, ask(incident.id, 1, report=report(Rung.ISOLATE, RungStatus.FAILED, when=at(60))))
    assert told.record(REPLACING) is None
    told.say(told.newest("i-1"), "healthy", 120)
    assert told.record(REPLACING) is None
    assert told.newest("i-1").judgements[0].verdict == "healthy"


def restart(number: int, *, foreseen: bool = False) -> Restart:
    return Restart(id=f"{number}", job=f"job-{number}", node="n", kind="job.failed", at=at(number), foreseen=foreseen)


def test_restarts_are_bounded_and_what_was_foreseen_goes_first() -> None:
    many = [restart(number, foreseen=number % 2 == 0) for number in range(MOST_RESTARTS + 20)]
    kept = with_restarts(Misses(cluster=CLUSTER), many, START)
    assert len(kept.restarts) == MOST_RESTARTS
    assert {each.id for each in many} - {each.id for each in kept.restarts} == {f"{n}" for n in range(0, 40, 2)}
    assert len(misses_of(kept, START)) == (MOST_RESTARTS + 20) // 2
    assert restarts_of(kept, START + timedelta(days=91)) == 0


def test_one_that_has_no_acts_has_no_precision() -> None:
    assert (precision_of(None, START).value, precision_of(EMPTY, START).acts) == (None, 0)

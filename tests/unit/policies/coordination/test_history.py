"""A node's past and the faults of the hour follow from incidents and findings, however often and in whatever order."""

from datetime import datetime, timedelta
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from policies.contract.decisions import AnyMessage, CloseMessage, Finding
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Action, Kind, PolicyMode
from policies.coordination import history, recent
from policies.coordination.decide import decide, keys_behind, keys_of
from policies.coordination.history import MOST_ENTRIES, note, past_of
from policies.coordination.incident import Incident
from policies.coordination.memory import MemoryStore
from policies.coordination.recent import MOST_SIGNS
from policies.coordination.snapshot import Decision, Keys
from policies.facts.history import History, Past
from policies.facts.recent import Recent
from tests.tools.incidents import CLUSTER, JOB, RULES, START, ask, at, finding, findings, plan, report

OLD, NEW = "570.148.08", "580.95.05"


def driven(found: Finding, driver: str) -> Finding:
    return found.model_copy(update={"node": found.node.model_copy(update={"driver_version": driver})})


def take(store: MemoryStore, now: datetime, *messages: AnyMessage) -> Decision:
    """Read, decide and commit as coordinate does."""
    snapshot = store.read(CLUSTER, keys_of(messages))
    snapshot = snapshot.merged(store.read(CLUSTER, keys_behind(snapshot, messages, now, RULES)))
    decision = decide(snapshot, messages, now, rules=RULES)
    assert decision.refused == {}
    for changes in (*decision.rounds, decision.past):
        for change in changes:
            store.write(change)
    return decision


def past_in(store: MemoryStore, node: str = "i-1") -> tuple[Past, ...]:
    kept = store.read(CLUSTER, Keys(histories=frozenset({node}))).histories[node]
    return kept.past if kept else ()


def signs_in(store: MemoryStore) -> list[tuple[str, str]]:
    kept = store.read(CLUSTER, Keys(recents=frozenset({""}))).recents[""]
    return [(sign.fault, sign.instance) for sign in kept.signs] if kept else []


def test_an_incident_enters_the_past_as_it_opens_and_as_it_goes_on() -> None:
    store = MemoryStore()
    opened = take(store, START, findings(finding())).incidents[0].after
    (entry,) = past_in(store)
    assert (entry.incident, entry.did, entry.outcome, entry.job) == (opened.id, (), "", JOB.id)
    take(store, at(30), ask(opened.id))
    take(store, at(40), ask(opened.id, 1, report=report(Rung.ISOLATE)))
    assert past_in(store)[0].did == (Rung.ISOLATE,)
    take(store, at(50), CloseMessage(cluster=CLUSTER, incident=opened.id, by="ann", reason="mended"))
    (entry,) = past_in(store)
    assert (entry.did, entry.outcome) == ((Rung.ISOLATE,), "closed_by_person")


def test_whoever_died_behind_the_incident_makes_up_for_its_past() -> None:
    whole, torn = MemoryStore(), MemoryStore()
    take(whole, START, findings(finding()))
    snapshot = torn.read(CLUSTER, keys_of([findings(finding())]))
    decision = decide(snapshot, [findings(finding())], START, rules=RULES)
    for changes in decision.rounds:
        for change in changes:
            torn.write(change)
    assert past_in(torn) == ()
    take(torn, at(31), findings(finding()))
    assert (past_in(torn), signs_in(torn)) == (past_in(whole), signs_in(whole))


def test_a_repeat_writes_nothing() -> None:
    store = MemoryStore()
    take(store, START, findings(finding()))
    assert take(store, at(1), findings(finding())).past == ()


def test_what_a_shadow_would_have_done_is_kept_and_what_only_tells_is_not() -> None:
    store = MemoryStore()
    take(
        store, START, findings(finding(policy=plan(mode=PolicyMode.SHADOW)), finding("i-2", policy=plan(Action.RECORD)))
    )
    assert [(entry.is_recorded, entry.recorded) for entry in past_in(store)] == [(True, True)]
    assert past_in(store, "i-2") == ()
    assert signs_in(store) == [("gpu.xid", "i-1"), ("gpu.xid", "i-2")]


def incident(number: int, *, recorded: bool = False, days: float = 0) -> Incident:
    message = findings(
        finding(name=f"f{number}", policy=plan(mode=PolicyMode.SHADOW if recorded else PolicyMode.ACTIVE))
    )
    now = START + timedelta(days=days, seconds=number)
    return decide(MemoryStore().read(CLUSTER, Keys()), [message], now, rules=RULES).incidents[0].after


def noted(incidents: list[Incident], now: datetime = START) -> History | None:
    kept: History | None = None
    for each in incidents:
        kept = note(kept, each, now)
    return kept


INCIDENTS = [incident(number, recorded=number % 3 == 0, days=-(number % 40)) for number in range(MOST_ENTRIES + 12)]


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False), st.lists(st.sampled_from(INCIDENTS), max_size=20))
def test_any_order_and_any_repetition_give_the_same_past(dice: Random, again: list[Incident]) -> None:
    shuffled = [*INCIDENTS, *again]
    dice.shuffle(shuffled)
    assert noted(shuffled) == noted(INCIDENTS)


def test_the_past_is_bounded_forgets_after_28_days_and_lets_go_of_mere_decisions_first() -> None:
    many = [incident(number, recorded=number < 40) for number in range(MOST_ENTRIES + 6)]
    kept = noted(many)
    assert kept
    assert len(kept.past) == MOST_ENTRIES
    assert {each.incident for each in kept.past} == {each.id for each in many[6:]}
    assert noted(many, START + timedelta(days=29)) is None


def test_what_is_about_no_node_enters_no_past() -> None:
    wide = incident(1).model_copy(update={"generation": "scope#p#rack:rack-1"})
    assert past_of(wide) is None


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 3), st.floats(-4000, 0), st.sampled_from(["", OLD, NEW])),
        max_size=30,
    ),
    st.randoms(use_true_random=False),
)
def test_any_order_and_any_repetition_give_the_same_signs(
    told: list[tuple[int, int, float, str]], dice: Random
) -> None:
    kinds = [Kind.GPU_XID, Kind.GPU_LOST, Kind.NVLINK_DOWN, Kind.HOST_PANIC]
    found = [
        driven(finding(f"i-{node}", kind=kinds[kind], seen=at(seconds)), driver) for node, kind, seconds, driver in told
    ]
    one = recent.note(None, found, CLUSTER, START)
    again: Recent | None = None
    shuffled = [*found, *found[:5]]
    dice.shuffle(shuffled)
    for each in shuffled:
        again = recent.note(again, [each], CLUSTER, START)
    assert again == one


def test_signs_are_bounded_and_the_newest_stay() -> None:
    many = [finding(f"i-{number}", seen=at(number - 1000)) for number in range(MOST_SIGNS + 10)]
    kept = recent.note(None, many, CLUSTER, START)
    assert kept
    assert {sign.instance for sign in kept.signs} == {f"i-{number}" for number in range(10, MOST_SIGNS + 10)}


def test_a_sign_keeps_the_driver_and_what_is_no_version_fills_nothing() -> None:
    told = [driven(finding("i-1"), OLD), driven(finding("i-2"), "5" * 200), finding("i-3")]
    kept = recent.note(None, told, CLUSTER, START)
    assert kept
    assert [sign.driver for sign in kept.signs] == [OLD, "", ""]


def test_a_document_of_before_drivers_were_told_goes_on() -> None:
    kept = recent.note(None, [finding("i-1"), finding("i-2")], CLUSTER, START)
    assert kept
    old = kept.model_dump(mode="json")
    old["signs"] = [each[:7] for each in old["signs"]]
    read = Recent.model_validate(old)
    assert read == kept
    later = recent.note(read, [driven(finding("i-2", seen=at(5)), NEW)], CLUSTER, at(6))
    assert later
    assert [(sign.instance, sign.driver) for sign in later.signs] == [("i-1", ""), ("i-2", NEW)]
    assert Recent.model_validate_json(later.to_json()) == later


def test_what_an_older_version_made_of_the_signs_goes_on() -> None:
    """It leaves out what it does not know, and puts newer signs in the place of older ones."""
    seen = [finding("i-1"), finding("i-1", name="again", seen=at(60)), finding("i-2", late=True)]
    kept = recent.note(None, seen, CLUSTER, at(61))
    assert kept
    assert [(row.instance, row.ages) for row in kept.rows] == [("i-1", (60_000_000, 0)), ("i-2", ())]
    spans = {sign.instance: told for sign, told in kept.came()}
    assert spans == {"i-1": ((at(0), at(60)),), "i-2": ()}
    older = kept.model_copy(update={"rows": ()})
    newer = tuple(sign._replace(at=at(120)) for sign in kept.signs)
    for document in (older, kept.model_copy(update={"signs": newer})):
        assert [told for _sign, told in document.came()] == [((sign.at, sign.at),) for sign in document.signs]
        read = Recent.model_validate_json(document.model_dump_json(exclude_defaults=True))
        later = recent.note(read, [finding("i-3", seen=at(130))], CLUSTER, at(130))
        assert later
        assert len(later.signs) == 3
        assert [told for _sign, told in later.came()] == [((sign.at, sign.at),) for sign in later.signs]
        noted = [finding("i-1", seen=at(140), name="more"), finding("i-2", seen=at(140), name="more")]
        latest = recent.note(later, noted, CLUSTER, at(140))
        assert latest
        assert {sign.instance: told for sign, told in latest.came()}["i-1"] == ((read.signs[0].at, at(140)),)
        gone = recent.note(latest, [finding("i-4", seen=at(8000))], CLUSTER, at(8000))
        assert gone
        assert (len(gone.signs), gone.rows) == (1, ()), "rows go with their signs"


def test_the_past_of_one_that_is_noted_again_is_the_same_object() -> None:
    kept = history.note(None, INCIDENTS[1], START)
    assert history.note(kept, INCIDENTS[1], START) is kept

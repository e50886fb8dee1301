"""Explain says why each policy did or did not fire, and says what triage would have done."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.contract.errors import BadInputError
from policies.contract.events import JobRef
from policies.contract.vocabulary import Kind, PolicyMode
from policies.coordination.switches import Switches
from policies.evaluator import Delivery, evaluate
from policies.explain.explaining import Explained, World, explain, look_back
from policies.explain.reading import deliveries_in
from policies.explain.verdicts import Outcome, Verdict
from policies.model import Policy
from policies.node_state import UNREADABLE
from policies.rulebook import AcceptedPolicy, compile_policies
from tests.tools.envelopes import GPU, NOW, at, delivery, envelope, event, node, policy
from tests.tools.judging import OTHER_GPU

NAME = "test-policy"
WAITING = policy(count={"at_least": 3, "within": "5m", "occurrence": "30s"})
LASTING = policy(name="lasting", when='event.kind == "network.link_down"', do=["alert"], **{"for": "5m"})


def world(*policies: Policy, **more: Any) -> World:  # noqa: ANN401 - fields of a World
    return World([AcceptedPolicy(one, 1, f"hash-{one.name}") for one in policies or (policy(),)], **more)


def told(deliveries: list[Delivery], *policies: Policy, now: float = 0, **more: Any) -> list[Explained]:  # noqa: ANN401 - fields of a World
    return explain(deliveries, state="", world=world(*policies, **more), now=at(now))


def only(deliveries: list[Delivery], *policies: Policy, **more: Any) -> Verdict:  # noqa: ANN401 - as above
    (verdict,) = told(deliveries, *policies, **more)[-1].verdicts
    return verdict


def test_who_fires_is_told_with_its_count_and_what_coordinate_does() -> None:
    verdict = only([delivery(event())], policy(settle="10s"))
    assert (verdict.outcome, verdict.fired) == (Outcome.FIRED, True)
    assert verdict.reason == "1 of 1 occurrences on gpu:0000:53:00 within 30 s, from 2026-03-01 10:00:00Z on"
    (then,) = verdict.then
    assert then.startswith("it opens an incident (or joins the node's): after 10 s isolate → collect_evidence → ")


def test_the_part_that_did_not_hold_is_named_with_what_was_read() -> None:
    verdict = only([delivery(event(xid=48))])
    assert verdict.outcome is Outcome.NO_MATCH
    assert verdict.reason == "`event.attributes.xid == 79` is false: event.attributes.xid is 48"


def test_of_alternatives_all_are_named_and_of_joined_parts_the_first() -> None:
    when = '(event.kind == "gpu.lost" || event.count > 5) && event.severity == "critical"'
    verdict = only([delivery(event())], policy(when=when))
    assert verdict.reason == (
        '`event.kind == "gpu.lost"` is false: event.kind is "gpu.xid"; `event.count > 5` is false: event.count is 1'
    )
    assert verdict.when is not None
    assert [part.answer for part in verdict.when.parts] == [False, False]


def test_what_is_not_there_is_named() -> None:
    verdict = only([delivery(event())], policy(when='event.kind == "gpu.xid" && job.step > 100'))
    assert verdict.outcome is Outcome.UNANSWERED
    assert verdict.reason == "`job.step > 100` cannot be answered: job.step is not there"


def test_an_exception_is_told_by_the_part_that_holds() -> None:
    verdict = only([delivery(event())], policy(unless='job.rank == 1 || node.instance_type == "p5.48xlarge"'))
    assert verdict.outcome is Outcome.EXCEPTED
    assert verdict.reason == (
        'unless `node.instance_type == "p5.48xlarge"` is true: node.instance_type is "p5.48xlarge"'
    )


def test_who_waits_says_how_many_of_how_many() -> None:
    found = told([delivery(event(0), event(1, 60))], WAITING, now=60)
    assert [each.verdicts[0].reason[:18] for each in found] == ["1 of 3 occurrences", "2 of 3 occurrences"]
    assert {each.verdicts[0].outcome for each in found} == {Outcome.WAITS}


def test_what_was_told_is_not_told_again() -> None:
    found = told([delivery(event(0)), delivery(event(1, 5))], now=5)
    assert [each.verdicts[0].outcome for each in found] == [Outcome.FIRED, Outcome.TOLD]
    assert (
        found[1].verdicts[0].reason.endswith("A finding was told of this already; the next one comes once it is over")
    )


def test_an_event_that_came_before_counts_no_more() -> None:
    found = told([delivery(event(0)), delivery(event(0))], WAITING)
    assert [each.known for each in found] == [False, True]
    assert found[1].verdicts[0].reason.startswith("counted when it first came, and not again: 1 of 3")


def test_what_distinct_asks_for_must_be_there() -> None:
    jobs = policy(count={"at_least": 2, "distinct": "job.id"})
    assert only([delivery(event())], jobs).outcome is Outcome.UNANSWERED
    waits = only([delivery(event(job=JobRef(id="a")), event(1, 5, job=JobRef(id="a")))], jobs, now=5)
    assert waits.reason.startswith("1 of 2 different values on gpu:0000:53:00 within 3600 s")


def test_an_old_event_fires_late_and_is_only_recorded() -> None:
    verdict = only([delivery(event(), arrived=0)], now=3600)
    assert "it is late" in verdict.reason
    assert verdict.then[0].startswith("it is recorded: decided: isolate, replace_node; seen 3600 s ago")


def test_mode_and_switches_say_why_nobody_acts() -> None:
    assert "the policy is shadow" in only([delivery(event())], policy(mode="shadow")).then[0]
    stopped = Switches(stop="everything is stopped by kim", otherwise=PolicyMode.ACTIVE)
    assert "stopped by kim" in only([delivery(event())], switches=stopped).then[0]
    off = only([delivery(event())], policy(mode="off"))
    assert (off.outcome, off.concerns) == (Outcome.OFF, False)


def test_a_condition_that_has_to_last_is_told_by_the_heartbeat_that_fulfils_it() -> None:
    down = event(kind=Kind.NETWORK_LINK_DOWN, xid=None)
    beats = [Delivery(delivery().parsed, at(0)), _beat(120), _beat(300)]
    found = explain([delivery(down), *beats[1:]], state="", world=world(LASTING), now=at(300))
    assert [each.verdicts[0].outcome for each in found] == [Outcome.WAITS, Outcome.NO_MATCH, Outcome.FIRED]
    assert found[0].verdicts[0].reason.startswith("it holds since 2026-03-01 10:00:00Z on gpu:0000:53:00")
    assert found[2].event is None


def _beat(seconds: float) -> Delivery:
    return delivery(sent=seconds, first_seq=1)


def test_a_count_over_many_nodes_is_followed_from_node_to_node() -> None:
    count = {"at_least": 2, "within": "5m", "per": "cluster", "distinct": "node.instance_id"}
    many = policy(name="many", count=count, do=["page_operator"])
    there, other = delivery(event()), delivery(event(0, 30), identity=node("i-2"))
    found = told([there, there, other], many, now=30)
    assert [each.verdicts[0].outcome for each in found] == [Outcome.WAITS, Outcome.WAITS, Outcome.FIRED]
    assert found[0].verdicts[0].reason.startswith("1 of 2 different values on cluster within 300 s")
    assert found[2].verdicts[0].reason.startswith("2 of 2 different values on cluster within 300 s")


def test_a_scope_that_nobody_knows_is_told() -> None:
    verdict = only([delivery(event())], policy(count={"at_least": 2, "per": "job"}, do=["page_operator"]))
    assert (verdict.outcome, verdict.reason) == (Outcome.UNANSWERED, "it counts per job, which nobody knows here")


def test_what_takes_the_reason_away_is_told() -> None:
    ends = policy(cancel_when='event.kind == "gpu.reset"', settle="1m")
    reset = event(1, 5, kind=Kind.GPU_RESET)
    found = told([delivery(event()), delivery(reset)], ends, now=5)
    assert [each.verdicts[0].outcome for each in found] == [Outcome.FIRED, Outcome.CANCELS]
    assert found[1].verdicts[0].concerns


def test_hours_that_hold_it_are_told() -> None:
    verdict = only([delivery(event())], policy(schedule={"never": ["Sun"]}))  # 1 March 2026
    assert verdict.then[0].endswith("it is outside its schedule")


def test_looking_back_counts_nothing_again() -> None:
    state = evaluate(
        [delivery(event(0), event(1, 60))], state="", rulebook=compile_policies(world(WAITING).accepted), now=at(60)
    ).state
    (verdict,) = look_back(event(1, 60), node(), state=state, world=world(WAITING), now=at(90)).verdicts
    assert verdict.reason.startswith("counted when it first came, and not again: 2 of 3 occurrences")


def test_a_state_that_cannot_be_read_makes_nothing_raise() -> None:
    (verdict,) = look_back(event(), node(), state=UNREADABLE, world=world(), now=NOW).verdicts
    assert verdict.outcome is Outcome.WAITS


def test_it_is_plain_json() -> None:
    found = told([delivery(event(0), event(1, 60, xid=48))], WAITING, policy(name="other"), now=60)
    document = json.loads(json.dumps([each.document() for each in found]))
    assert document[0]["policies"][1]["count"]["amount"] == 1
    assert document[1]["policies"][0]["when"]["joint"] == "&&"


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "gpu.xid", "attributes": {"xid": 79}},
        json.loads(event().to_json()),
        json.loads(envelope(event()).to_json()),
        [{"kind": "gpu.xid", "attributes": {"xid": 79}}],
    ],
)
def test_an_envelope_an_event_or_a_few_words_are_taken(value: Any) -> None:  # noqa: ANN401 - JSON of any shape
    (one,) = deliveries_in(json.dumps(value), node(), NOW)
    assert only([one]).fired


def test_lines_are_taken_in_their_order() -> None:
    lines = "\n".join(json.dumps({"kind": "gpu.xid", "attributes": {"xid": xid}}) for xid in (13, 79))
    read = deliveries_in(lines, node(), NOW)
    assert [one.parsed.envelope.events[0].attributes["xid"] for one in read] == [13, 79]


@pytest.mark.parametrize("text", ["", "[]", "{", "3", '{"kind": "gpu.xud"}', '{"observed_at": 1}', '{"events": 3}'])
def test_what_is_no_event_is_told(text: str) -> None:
    with pytest.raises(BadInputError):
        deliveries_in(text, node(), NOW)


_MEMBERS: Mapping[str, st.SearchStrategy[str]] = {
    "event.kind": st.sampled_from(['== "gpu.xid"', '!= "gpu.xid"', 'in ["gpu.xid", "gpu.lost"]']),
    "event.attributes.xid": st.sampled_from(["== 79", "> 50", "in [79, 48]", "+ 1 == 80"]),
    "event.severity": st.sampled_from(['== "error"', '!= "error"']),
    "job.id": st.sampled_from(['== "a"', '.startsWith("a")']),
    "event.component.pci": st.sampled_from(['== "0000:53:00"', '!= "x"']),
}
_parts = st.sampled_from(sorted(_MEMBERS)).flatmap(lambda name: _MEMBERS[name].map(lambda asks: f"{name} {asks}"))
_conditions = st.recursive(
    _parts,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["&&", "||"]), inner).map(lambda three: f"({' '.join(three)})"),
        inner.map(lambda one: f"!({one})"),
    ),
    max_leaves=4,
)
_counts = st.sampled_from([
    {"at_least": 1, "within": "30s", "occurrence": "30s"},
    {"at_least": 2, "within": "5m", "occurrence": "30s"},
    {"at_least": 3, "within": "5m", "per": "node"},
    {"at_least": 2, "within": "10m", "distinct": "job.id"},
])  # fmt: skip


@st.composite
def _policies(draw: st.DrawFn) -> list[Policy]:
    return [
        policy(
            name=f"p{number}",
            when=draw(_conditions),
            unless=draw(st.none() | _conditions),
            count=draw(_counts),
            mode=draw(st.sampled_from(["active", "shadow", "off"])),
        )
        for number in range(draw(st.integers(1, 3)))
    ]


_events = st.lists(
    st.tuples(
        st.integers(0, 400),
        st.sampled_from([79, 48, 13]),
        st.sampled_from([GPU, OTHER_GPU, None]),
        st.sampled_from([None, "a", "b"]),
        st.sampled_from([Kind.GPU_XID, Kind.GPU_LOST]),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=200)
@given(_policies(), _events, st.booleans())
def test_explain_fires_what_triage_finds(policies: list[Policy], story: list[tuple[Any, ...]], whole: bool) -> None:
    events = [
        event(seq, seconds, xid=xid, component=component, job=JobRef(id=job) if job else None, kind=kind)
        for seq, (seconds, xid, component, job, kind) in enumerate(sorted(story, key=lambda one: one[0]))
    ]
    deliveries = [delivery(*events)] if whole else [delivery(one) for one in events]
    explained = told(deliveries, *policies, now=400)
    rulebook, state = compile_policies(world(*policies).accepted), ""
    assert len(explained) == len(events)
    for one, each in zip(events, explained, strict=True):
        judged = evaluate([delivery(one)], state=state, rulebook=rulebook, now=at(400))
        state = judged.state
        fired = {finding.id for verdict in each.verdicts for finding in verdict.findings}
        assert fired == {finding.id for finding in judged.findings}
        assert {verdict.policy for verdict in each.verdicts if verdict.fired} == {
            finding.policy.name for finding in judged.findings
        }
        for verdict in each.verdicts:
            asked = verdict.outcome in {Outcome.FIRED, Outcome.TOLD, Outcome.WAITS}
            assert asked <= (verdict.when is not None and verdict.when.answer is True)
            assert not verdict.standing or (verdict.outcome is not Outcome.WAITS or not verdict.standing.is_reached)

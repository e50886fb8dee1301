"""Which events meet which policy, what is counted together, and what a finding then carries."""

from policies.contract.decisions import Finding
from policies.contract.events import FaultEvent, JobRef
from policies.contract.vocabulary import Kind, PolicyMode
from policies.expressions.members import NodeFacts
from tests.tools.envelopes import GPU, at, delivery, event, node, policy, rules, shipped
from tests.tools.judging import OTHER_GPU, ids, judge


def test_a_lost_gpu_is_one_finding_with_what_coordinate_needs() -> None:
    job = JobRef(id="train/llm", step=10_200)
    found = judge(delivery(event(0, 0, job=job, message="fallen off the bus"), arrived=0.02), rulebook=shipped())
    (finding,) = found.findings
    assert Finding.model_validate_json(finding.to_json()) == finding
    assert finding.policy.name == "xid-79-fell-off-the-bus"
    assert finding.generation == "i-1#0"
    assert (finding.component, finding.job, finding.count) == (GPU, job, 1)
    assert (finding.observed_at, finding.queued_at, finding.decided_at) == (at(0), at(0.02), at(1))
    assert finding.messages == ("fallen off the bus",)
    assert finding.event_ids == (event(0, 0).id,)
    assert not finding.late
    assert (found.events, found.matches, found.repeats, found.changed) == (1, 1, 0, True)


def test_a_burst_is_one_finding_and_one_message_each() -> None:
    burst = [event(seq, seq, message=f"line {seq % 3}") for seq in range(20)]
    (finding,) = judge(delivery(*burst, arrived=20)).findings
    assert finding.count == 20
    assert finding.messages == ("line 0", "line 1", "line 2")
    assert (finding.first_observed_at, finding.observed_at) == (at(0), at(19))


def test_each_component_is_counted_by_itself_and_a_node_as_a_whole_where_the_policy_says_so() -> None:
    two = delivery(event(0), event(1, component=OTHER_GPU))
    assert len(judge(two).findings) == 2
    by_node = rules(policy(count={"at_least": 2, "within": "1m", "per": "node"}))
    (finding,) = judge(two, rulebook=by_node).findings
    assert finding.count == 2


def test_a_gpu_is_one_part_whichever_link_shows_the_fault() -> None:
    links = [event(link, link, component=GPU.model_copy(update={"link": link})) for link in range(3)]
    assert len(judge(delivery(*links)).findings) == 1


def test_shadow_decides_and_says_so_and_off_does_not_decide() -> None:
    (finding,) = judge(delivery(event(0)), rulebook=rules(policy(mode="shadow"))).findings
    assert finding.policy.mode is PolicyMode.SHADOW
    assert judge(delivery(event(0)), rulebook=rules(policy(mode="off"))).findings == ()


def test_unless_exempts_and_what_is_unknown_exempts_nobody_but_is_told() -> None:
    book = rules(policy(unless="node.in_maintenance"))
    assert judge(delivery(event(0)), rulebook=book, snapshot={"node.in_maintenance": True}).findings == ()
    assert len(judge(delivery(event(0)), rulebook=book, snapshot={"node.in_maintenance": False}).findings) == 1
    unknown = judge(delivery(event(0), event(1)), rulebook=book)
    assert len(unknown.findings) == 1
    (refused,) = unknown.refused
    assert (refused.policy, refused.field, refused.times) == ("test-policy", "unless", 2)


def test_a_field_that_is_not_there_is_no_match_and_is_told() -> None:
    book = rules(policy(when='event.kind == "gpu.xid" && event.attributes.pid == 7'))
    found = judge(delivery(event(0)), rulebook=book)
    assert found.findings == ()
    assert [(one.path, one.reason) for one in found.refused] == [("event.attributes.pid", "is not there")]


def test_distinct_jobs_on_one_gpu_are_what_counts() -> None:
    book = rules(policy(count={"at_least": 2, "within": "1h", "distinct": "job.id"}))
    same = [event(seq, seq, job=JobRef(id="train/a")) for seq in range(3)]
    assert judge(delivery(*same), rulebook=book).findings == ()
    found = judge(delivery(*same, event(3, 3, job=JobRef(id="train/b"))), rulebook=book)
    assert found.findings
    assert judge(delivery(event(0)), rulebook=book).refused[0].field == "count.distinct"


def test_a_new_revision_is_another_finding() -> None:
    before = judge(delivery(event(0)), rulebook=rules(revision=1))
    after = judge(delivery(event(1, 5)), rulebook=rules(revision=2), state=before.state)
    assert len(after.findings) == 1
    assert ids(after) != ids(before)


def test_the_index_misses_no_rule() -> None:
    texts = [
        'event.kind == "gpu.xid"',
        "event.attributes.xid != 79",
        'event.kind == "gpu.xid" && event.attributes.xid in [79, 13]',
        'event.kind in ["gpu.lost", "gpu.xid"] && event.count == 1',
        'event.kind == "gpu.lost" || event.attributes.xid == 79',
        'event.kind != "gpu.xid"',
    ]
    book = rules(*(policy(name=f"rule-{place}", when=text) for place, text in enumerate(texts)))
    kinds = [(Kind.GPU_XID, xid) for xid in (79, 13, 45, None)] + [(Kind.GPU_LOST, None), (Kind.HOST_PANIC, None)]
    for seq, (kind, xid) in enumerate(kinds):
        one: FaultEvent = event(seq, kind=kind, xid=xid)
        asked = {rule.name for rule in book.rules if rule.when.ask(one, NodeFacts(node())) is True}
        assert {finding.policy.name for finding in judge(delivery(one), rulebook=book).findings} == asked


def test_an_xid_that_is_no_whole_number_is_still_asked_properly() -> None:
    as_float = event(0).model_copy(update={"attributes": {"xid": 79.0}})
    as_text = event(1).model_copy(update={"attributes": {"xid": "79"}})
    found = judge(delivery(as_float, as_text, arrived=0))
    assert found.matches == 1
    assert [finding.observed_at for finding in found.findings] == [at(0)]

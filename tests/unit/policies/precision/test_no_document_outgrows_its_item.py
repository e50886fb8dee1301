"""Whatever people and nodes say, what is kept of acts and restarts fits an item of DynamoDB, of 400 KB."""

from functions.adapters.coordination_items import incident_item, misses_item, record_item
from policies.contract.restraints import VerdictMessage
from policies.contract.vocabulary import Action, Kind
from policies.coordination.judgements import LONGEST_WORDS
from policies.coordination.snapshot import Keys
from policies.precision.misses import MOST_RESTARTS
from policies.precision.record import MOST_ACTS
from policies.precision.restarts import MOST_POLICIES
from tests.tools.incidents import CLUSTER, JOB, at, finding, findings, plan
from tests.tools.judged import REPLACING, TELLING, Judged

ITEM = 400 * 1024


def test_a_reason_of_any_length_is_kept_as_far_as_there_is_room() -> None:
    table = Judged()
    acted = table.acted("i-1", 0, REPLACING)
    long = "w" * 200_000
    for number, policy in enumerate(["", "", *(f"policy-{n}" for n in range(20))]):
        word = VerdictMessage(
            cluster=CLUSTER,
            incident=acted.id,
            verdict="missed" if policy else "healthy",
            policy=policy,
            by=f"ann{long}",
            reason=f"{number} {long}",
            at=at(9000 + number),
        )
        table.take(9000 + number, word)
        assert not table.take(9000 + number, word).incidents
    record = table.record(REPLACING)
    assert record
    assert len(record.to_json()) < MOST_ACTS * LONGEST_WORDS
    assert len(str(record_item(record))) * MOST_ACTS < ITEM
    assert len(str(incident_item(table.newest("i-1")))) < ITEM / 4


def test_a_node_that_meets_every_policy_before_its_run_ends_names_a_few_in_any_order() -> None:
    named = []
    for step in (1, -1):
        table = Judged()
        job = JOB.model_copy(update={"id": "j" * 512, "rank": 0})
        table.take(
            400, findings(finding("i-1", name="end", seen=at(400), kind=Kind.JOB_FAILED, job=job, policy=TELLING))
        )
        policies = [plan(Action.RECORD, name=f"a-policy-with-a-long-name-{n:03}") for n in range(140)][::step]
        for policy in policies:
            seen = finding("i-1", name=policy.name, seen=at(600), policy=policy, job=job)
            table.take(700, findings(seen.model_copy(update={"first_observed_at": at(300)})))
        misses = table.store.read(CLUSTER, Keys(misses=frozenset({""}))).misses[""]
        assert misses
        assert len(str(misses_item(misses))) * MOST_RESTARTS < ITEM
        named.append(misses.restarts[0].policies)
    assert named[0] == named[1]
    assert len(named[0]) == MOST_POLICIES

"""Leases, holds and budgets by themselves."""

from hypothesis import given
from hypothesis import strategies as st

from policies.contract.decisions import Limit
from policies.coordination import budgets, holds, leases
from policies.coordination.budgets import Budget, allowance, reserve, scope_of
from policies.coordination.holds import Job
from tests.tools.incidents import CLUSTER, JOB, START, at, finding

NODE = finding().node


def held(fence: int = 1) -> leases.Lease:
    lease = leases.acquire(None, cluster=CLUSTER, generation="i-1#0", incident="a", until=at(900))
    return lease.model_copy(update={"fence": fence})


def test_each_acquire_raises_the_fence() -> None:
    again = leases.acquire(held(4), cluster=CLUSTER, generation="i-1#0", incident="b", until=at(900))
    assert (again.fence, again.incident, again.released) == (5, "b", False)


def test_a_lease_is_held_by_one_incident_under_one_fence_until_it_expires() -> None:
    lease = held()
    assert lease.held_by("a", 1, START)
    assert not lease.held_by("b", 1, START)
    assert not lease.held_by("a", 2, START)
    assert not lease.held_by("a", 1, lease.expires_at)
    assert not leases.release(lease, "replaced", at(5)).held_by("a", 1, at(6))


def test_a_parked_lease_is_kept_for_days_and_stops_what_still_runs() -> None:
    parked = leases.park(held(), START)
    assert not parked.held_by("a", 1, at(1))
    assert parked.held_by("a", 2, at(7 * 86400))


def test_a_lease_acquired_after_a_release_is_fresh() -> None:
    released = leases.release(held(), "recovered", at(5))
    again = leases.acquire(released, cluster=CLUSTER, generation="i-1#0", incident="b", until=at(900))
    assert (again.outcome, again.released_at, again.version) == ("", None, released.version)


@given(st.lists(st.sampled_from("abc"), min_size=1), st.permutations("abc"))
def test_whoever_empties_the_holds_and_nobody_else_resumes(holders: list[str], order: list[str]) -> None:
    job = Job(cluster=CLUSTER, id="j")
    for holder in holders:
        job = holds.hold(job, holder)
    leaving = [each for each in order if each in holders]
    for who in leaving:
        job = holds.release(holds.release(job, who), who)
        assert job.resumer == (leaving[-1] if who == leaving[-1] else None)
    assert job.holds == ()


def test_letting_go_is_the_resumers_and_counts_once() -> None:
    job = holds.release(holds.hold(Job(cluster=CLUSTER, id="j"), "a"), "a")
    assert holds.let_go(job, "b", at(0)) == job
    gone = holds.let_go(job, "a", at(0))
    assert (gone.resumer, gone.resumes) == (None, 1)
    assert holds.let_go(gone, "a", at(1)) == gone


def test_a_hold_added_under_way_leaves_the_resumer_where_it_is() -> None:
    job = holds.hold(holds.release(holds.hold(Job(cluster=CLUSTER, id="j"), "a"), "a"), "b")
    assert (job.holds, job.resumer) == (("b",), "a")
    assert job.others("a") == ("b",)
    assert holds.drop(job, "a").resumer is None


def resuming(who: str = "a") -> Job:
    return holds.release(holds.hold(Job(cluster=CLUSTER, id="j"), who), who)


def test_a_resume_is_claimed_by_its_resumer_until_somebody_else_needs_the_job() -> None:
    job = resuming()
    assert holds.claim(job, "a", 0) == job
    assert holds.claim(holds.hold(job, "b"), "a", 0) is None
    assert holds.claim(resuming("b"), "a", 0) is None


def test_a_claim_dropped_half_way_is_taken_up_again() -> None:
    again = holds.claim(holds.drop(resuming(), "a"), "a", 0)
    assert again
    assert again.resumer == "a"


def test_a_job_let_go_since_is_claimed_only_by_who_let_it_go() -> None:
    gone = holds.let_go(resuming(), "a", at(0))
    assert holds.claim(gone, "a", 0) == gone
    later = holds.let_go(holds.release(holds.hold(gone, "b"), "b"), "b", at(1))
    assert holds.claim(later, "a", 0) is None


@given(st.integers(0, 5), st.floats(0, 100), st.integers(0, 10_000))
def test_an_allowance_is_never_less_than_one(at_most: int, percent: float, size: int) -> None:
    assert allowance(Limit(at_most=at_most, within_seconds=1), size) >= 1
    assert 1 <= allowance(Limit(percent=percent, within_seconds=1), size) <= max(1, size)
    both = Limit(at_most=at_most, percent=percent, within_seconds=1)
    assert allowance(both, size) <= max(1, at_most)


TWO = Limit(at_most=2, within_seconds=600)


def reserved(*incidents: str) -> Budget:
    budget = Budget(cluster=CLUSTER, scope="r#cluster")
    for each in incidents:
        more = reserve(budget, each, TWO, size=0, now=START)
        assert more
        budget = more
    return budget


def test_a_full_budget_refuses_and_a_repeat_is_no_reservation() -> None:
    budget = reserved("a", "b")
    assert reserve(budget, "c", TWO, size=0, now=at(1)) is None
    assert reserve(budget, "a", TWO, size=0, now=at(1)) == budget


def test_what_acted_counts_until_its_window_has_passed() -> None:
    budget = budgets.close(reserved("a", "b"), "a", acted=True)
    assert reserve(budget, "c", TWO, size=0, now=at(599)) is None
    assert reserve(budget, "c", TWO, size=0, now=at(600))


def test_what_is_open_counts_however_long_it_takes() -> None:
    assert reserve(reserved("a", "b"), "c", TWO, size=0, now=at(86400)) is None


def test_what_did_not_act_never_counted() -> None:
    assert reserve(budgets.close(reserved("a", "b"), "a", acted=False), "c", TWO, size=0, now=at(1))


def scope(per: str, *, job: bool = True) -> str | None:
    limit = Limit.model_validate({"at_most": 1, "within_seconds": 1, "per": per})
    return scope_of("replacements", limit, policy="xid-79", node=NODE, job=JOB if job else None)


def test_scopes() -> None:
    assert scope("cluster") == "replacements#cluster"
    assert scope("job") == "replacements#job#train/llm"
    assert scope("job", job=False) is None
    assert scope("rack") == "replacements#rack#rack-1"
    assert scope("policy") == "replacements#policy#xid-79"

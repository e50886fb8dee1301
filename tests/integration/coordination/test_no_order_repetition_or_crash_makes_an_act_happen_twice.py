from datetime import timedelta

from hypothesis import example, given, settings
from hypothesis import strategies as st

from policies.contract.decisions import Limit, parse_message
from policies.coordination.holds import Job
from policies.coordination.leases import Lease
from policies.coordination.memory import MemoryStore
from policies.coordination.snapshot import Keys
from policies.coordination.states import IncidentStatus
from tests.tools.crashes import Crashes
from tests.tools.fleet_acts import Site, acts_on
from tests.tools.incidents import CLUSTER, START, finding, findings, plan
from tests.tools.world import World

LIMIT = {"replacements": Limit(at_most=2, within_seconds=600, per="cluster")}
NODES = ("i-1", "i-2")

crashes = st.dictionaries(st.integers(0, 250), st.sampled_from(["before", "after"]), max_size=6)
moments = st.floats(0, 150)


def guard_writes(store: MemoryStore) -> None:
    """Watch every write: fences grow, a lease changes hands only when it was let go, budgets are never exceeded."""
    write = store.write

    def watched(change: object) -> None:
        before, after = change.before, change.after  # type: ignore[attr-defined]
        if isinstance(after, Lease) and before is not None:
            assert after.fence >= before.fence
            assert after.incident == before.incident or before.released or not is_open(store, before.incident)
        if isinstance(after, Job):
            assert after.resumer not in after.holds
        if hasattr(after, "reservations"):
            assert len(after.reservations) <= 2
        write(change)  # type: ignore[arg-type]

    store.write = watched  # type: ignore[method-assign]


def is_open(store: MemoryStore, incident: str) -> bool:
    found = store.read(CLUSTER, Keys(incidents=frozenset({incident}))).incidents.get(incident)
    return found is not None and found.status.is_open


@settings(max_examples=150)
@given(
    plan_of_crashes=crashes,
    second=moments,
    repeats=st.lists(st.tuples(st.sampled_from(NODES), moments), max_size=4),
    delays=st.tuples(st.lists(st.sampled_from([0.0, 3.0, 40.0]), max_size=6), st.sampled_from([[], [150.0, 0.0, 0.0]])),
)
@example(
    {164: "after", 0: "before"}, 12.0, [], ([], [])
)  # a lease released before its hold was: the run stayed stopped
def test_two_nodes_of_one_job(
    plan_of_crashes: dict[int, str],
    second: float,
    repeats: list[tuple[str, float]],
    delays: tuple[list[float], list[float]],
) -> None:
    site = Site()
    world = World(
        lambda world: acts_on(site, world.crashes.guard),
        crashes=Crashes(plan_of_crashes),
        delays=[*delays[0], *delays[1]],
    )
    guard_writes(world.store)
    policy = plan(limits=LIMIT, deadline=6000)
    told = {node: findings(finding(node, policy=policy)) for node in NODES}
    world.send(told["i-1"])
    world.send(told["i-2"], after=second)
    for node, moment in repeats:
        world.send(told[node], after=moment)
    world.sweep_every(60, until=9000)
    world.run(2400)
    for body in world.dead_letters:  # an operator redrives what the crashes made of it
        message = parse_message(body)
        if message.type == "findings":
            world.send(message)
    world.run(9000)
    incidents = [each for each in world.store.all_incidents() if each.fence]
    assert sorted(each.node.instance_id for each in incidents) == ["i-1", "i-2"]
    assert {each.status for each in incidents} == {IncidentStatus.CLOSED}
    assert all(times == 1 for times in site.effects.values())
    assert site.times("isolate") == site.times("replace") == site.times("verify") == 2
    assert site.times("suspend") == site.times("resume")
    assert site.stopped == {"train/llm": False}
    job = world.store.read(CLUSTER, Keys(jobs=frozenset({"train/llm"}))).jobs["train/llm"]
    assert (job.holds, job.resumer) == ((), None)
    assert world.now <= START + timedelta(seconds=9000)

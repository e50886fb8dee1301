"""A share of a rack or of a job is a share of what is known of it, and one where nothing is."""

import pytest

from functions.coordinate.sizing import measure
from functions.ports.facts import FactKey
from functions.twins.facts import MemoryFacts
from functions.twins.sizes import MemorySizes
from policies.contract.decisions import Limit
from policies.contract.envelope import NodeIdentity
from policies.coordination.budgets import allowance
from policies.coordination.limits import ToMeasure, to_measure
from policies.facts.job import JOB, Progress
from tests.tools.decision_table import DecisionTable
from tests.tools.incidents import CLUSTER, at, finding, findings, plan

HALF = Limit(percent=50, within_seconds=600)
SIZES = MemorySizes({CLUSTER: 40}, {(CLUSTER, "rack-1"): 8})


def told(per: str, instance_type: str = "p5.48xlarge", *, racked: bool = True) -> tuple[ToMeasure, ...]:
    """Return what must be known of half a *per* when an incident settles."""
    limits = {"replacements": HALF.model_copy(update={"per": per})}
    one = finding(policy=plan(limits=limits))
    path = ("spine", "rack-1") if racked else ()
    node = NodeIdentity.model_validate({**one.node.model_dump(), "instance_type": instance_type, "network_path": path})
    table = DecisionTable()
    table.take(0, findings(one.model_copy(update={"node": node})))
    return to_measure(table.incident)


def facts(world_size: int | None, age: float = 0) -> MemoryFacts:
    kept = MemoryFacts()
    kept.keep(FactKey(CLUSTER, JOB.name, "train/llm"), Progress(at=at(-age), world_size=world_size).to_json(), at(9999))
    return kept


def allowed(wanted: tuple[ToMeasure, ...], known: MemoryFacts) -> int:
    (size,) = measure(CLUSTER, wanted, sizes=SIZES, facts=known, now=at(0)).values() or (0,)
    return allowance(HALF, size)


def test_a_cluster_has_the_nodes_that_were_heard_and_a_rack_those_of_them_that_are_there() -> None:
    assert allowed(told("cluster"), facts(None)) == 20
    assert allowed(told("rack"), facts(None)) == 4


@pytest.mark.parametrize(("ranks", "nodes"), [(128, 8), (100, 6), (4, 1)])
def test_a_job_has_as_many_nodes_as_its_ranks_need(ranks: int, nodes: int) -> None:
    assert allowed(told("job"), facts(ranks)) == nodes  # half of 16, of 13 and of 1


@pytest.mark.parametrize("ranks", [10_000, 2**53 - 1])
def test_a_job_that_says_it_is_larger_than_its_cluster_is_as_large_as_that(ranks: int) -> None:
    assert allowed(told("job"), facts(ranks)) == 20


@pytest.mark.parametrize(
    ("wanted", "known"),
    [
        (told("rack", racked=False), facts(128)),
        (told("job", "x9.huge"), facts(128)),
        (told("job"), facts(None)),
        (told("job"), facts(128, age=1000)),
        (told("job"), MemoryFacts()),
    ],
    ids=["place unknown", "instance type unknown", "training says no size", "nobody said so lately", "nothing kept"],
)
def test_what_nobody_knows_allows_one(wanted: tuple[ToMeasure, ...], known: MemoryFacts) -> None:
    assert allowed(wanted, known) == 1


def test_a_document_that_cannot_be_read_is_no_size() -> None:
    kept = MemoryFacts()
    kept.keep(FactKey(CLUSTER, JOB.name, "train/llm"), "{", at(9999))
    assert allowed(told("job"), kept) == 1

from collections.abc import Iterator

import pytest

from policies.contract.decisions import Limit, SweepMessage
from policies.coordination.states import IncidentStatus
from tests.tools.coordinate_bench import Bench
from tests.tools.incidents import CLUSTER, ask, at, finding, findings, plan


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.pool.shutdown()


def test_a_finding_is_persisted_and_then_started(bench: Bench) -> None:
    assert bench.take(findings(finding())) == []
    assert list(bench.executions.started) == [bench.incident().execution]
    assert sorted(bench.store.lines[bench.incident().id]) == [1, 2, 3]


def test_clusters_in_one_batch_do_not_meet(bench: Bench) -> None:
    assert bench.take(*(findings(finding(cluster=name)) for name in (CLUSTER, "sage", "lost"))) == []
    assert {each.cluster for each in bench.store.all_incidents()} == {CLUSTER, "sage"}
    assert bench.refused() == {"2": "cluster 'lost' is unknown. Add it to the settings and deploy."}


def test_a_batch_is_read_at_once_and_the_holders_after_it(bench: Bench) -> None:
    bench.take(*(findings(finding(f"i-{number}")) for number in range(10)))
    assert bench.store.reads == 1
    bench.take(*(findings(finding(f"i-{number}", name=f"again-{number}")) for number in range(10)))
    assert bench.store.reads == 3


def test_a_conflict_is_read_and_decided_again(bench: Bench) -> None:
    bench.store.conflicts = 2
    assert bench.take(findings(finding())) == []
    assert bench.incident().version == 1


def test_conflicts_without_end_bring_the_message_back(bench: Bench) -> None:
    bench.store.conflicts = 1000
    assert bench.take(findings(finding())) == [0]


def test_a_document_that_cannot_be_written_brings_its_message_back_alone(bench: Bench) -> None:
    bench.store.poison = "i-2"
    assert bench.take(*(findings(finding(f"i-{number}")) for number in range(1, 5))) == [1]
    assert sorted(bench.executions.started) == sorted(bench.incident(node).execution for node in ("i-1", "i-3", "i-4"))


def test_an_outage_brings_all_back_after_a_few_tries(bench: Bench) -> None:
    bench.store.down = True
    assert bench.take(*(findings(finding(f"i-{number}")) for number in range(10))) == list(range(10))
    assert bench.store.reads == 3


def test_an_execution_that_cannot_be_started_is_started_when_its_message_comes_again(bench: Bench) -> None:
    bench.take(findings(finding("i-2")))
    bench.executions.refused = bench.incident("i-2").id
    del bench.executions.started[bench.incident("i-2").execution]
    assert bench.take(findings(finding("i-1")), findings(finding("i-2"))) == [1]
    bench.executions.refused = ""
    assert bench.take(findings(finding("i-2"))) == []
    assert len(bench.executions.started) == 2


def test_an_answer_that_is_lost_is_given_again(bench: Bench) -> None:
    bench.take(findings(finding()))
    bench.now = at(30)
    message = ask(bench.incident().id, token="t")
    bench.executions.wait_for("t")
    bench.executions.mute = True
    assert bench.take(message) == [0]
    version = bench.incident().version
    bench.executions.mute = False
    assert bench.take(message) == []
    assert bench.executions.answers["t"].verdict == "act"
    assert bench.incident().version == version


def test_an_expired_token_is_nobodys_trouble(bench: Bench) -> None:
    bench.take(findings(finding()))
    assert bench.take(ask(bench.incident().id, token="expired")) == []


def test_a_timeline_item_that_is_lost_is_told_again_with_the_next_repeat(bench: Bench) -> None:
    bench.store.lines_fail = True
    assert bench.take(findings(finding())) == []
    assert not bench.store.lines
    bench.store.lines_fail = False
    bench.take(findings(finding()))
    assert sorted(bench.store.lines[bench.incident().id]) == [1, 2, 3]


def test_a_sweep_looks_up_who_is_silent_and_starts_anew(bench: Bench) -> None:
    bench.take(findings(finding()))
    bench.executions.end(bench.incident().id, 1)
    bench.now = at(30)
    bench.take(SweepMessage(cluster=CLUSTER, at=at(30)))
    assert bench.incident().attempt == 1
    bench.now = at(120)
    assert bench.take(SweepMessage(cluster=CLUSTER, at=at(120))) == []
    assert bench.incident().attempt == 2
    assert bench.incident().execution in bench.executions.started


def test_a_percentage_is_taken_of_the_living_nodes(bench: Bench) -> None:
    policy = plan(limits={"replacements": Limit(percent=50, within_seconds=600)})
    bench.sizes.nodes[CLUSTER] = 4
    nodes = ("i-1", "i-2", "i-3")
    bench.take(*(findings(finding(node, policy=policy)) for node in nodes))
    bench.now = at(30)
    bench.take(*(ask(bench.incident(node).id) for node in nodes))
    statuses = sorted(bench.incident(node).status for node in nodes)
    assert statuses == [IncidentStatus.ACTING, IncidentStatus.ACTING, IncidentStatus.PARKED]


def test_figures_tell_what_happened(bench: Bench) -> None:
    bench.store.conflicts = 1
    bench.now = at(3)
    bench.take(findings(finding()), "{")
    bench.now = at(30)
    bench.take(ask(bench.incident().id))
    bench.now = at(2000)
    bench.take(SweepMessage(cluster=CLUSTER, at=at(2000)))
    counted = {name: value for name, value in bench.telemetry.counts.items() if value}
    assert counted == {
        "MessagesTaken": 3,
        "MessagesRefused": 1,
        "DecisionsRepeated": 1,
        "IncidentsOpened": 1,
        "IncidentsParked": 1,
    }
    assert bench.telemetry.seconds == [
        ("SecondsFromQueuedToDecided", 3.0),
        ("OldestIncident", 1997.0),
        ("LongestOverdue", 1077.0),
    ]
    assert [remark for remark, _ in bench.telemetry.remarks] == ["A message is refused."]

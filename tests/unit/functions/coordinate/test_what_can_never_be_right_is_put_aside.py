import json
from collections.abc import Iterator

import pytest

from policies.contract.decisions import CloseMessage
from policies.contract.errors import BadInputError, DependencyError
from policies.coordination.states import IncidentStatus
from tests.tools import coordinate_bench
from tests.tools.coordinate_bench import Bench, break_on
from tests.tools.incidents import CLUSTER, finding, findings


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.pool.shutdown()


def test_what_is_no_message_is_put_aside_with_its_reason_and_the_rest_goes_on(bench: Bench) -> None:
    unknown = json.dumps({"type": "findings", "schema_version": 2, "cluster": CLUSTER, "findings": []})
    assert bench.take("{", findings(finding()), "[]", unknown, '{"type": "order"}') == []
    assert list(bench.refused()) == ["0", "2", "3", "4"]
    assert all(reason.startswith("not a message for coordinate: ") for reason in bench.refused().values())
    assert {(it.group, it.error, it.received) for it in bench.dead.letters} == {(CLUSTER, "BadInputError", 1)}
    assert bench.dead.letters[2].body == unknown
    assert bench.incident().status is IncidentStatus.SETTLING


def test_between_good_ones_a_bad_one_is_put_aside_and_the_good_are_decided_in_order(bench: Bench) -> None:
    nobody = CloseMessage(cluster=CLUSTER, incident="none", by="ops", reason="over")
    joins = findings(finding("i-1", name="again"))
    assert bench.take(findings(finding("i-1")), nobody, joins) == []
    assert bench.refused() == {"1": f"there is no incident none in cluster {CLUSTER}. Check id and cluster."}
    (incident,) = bench.store.all_incidents()
    assert incident.knows(joins.findings[0].id)
    assert incident.policy.name == finding().policy.name


def test_a_rule_that_breaks_on_a_message_is_a_defect_and_says_where(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_on(monkeypatch, "i-2")
    assert bench.take(*(findings(finding(f"i-{number}")) for number in range(1, 4))) == []
    (letter,) = bench.dead.letters
    assert (letter.id, letter.error) == ("1", "ZeroDivisionError")
    assert letter.reason.startswith("nobody thought of i-2 (")
    assert f"{coordinate_bench.__file__}:" in letter.reason
    assert sorted(bench.executions.started) == sorted(bench.incident(node).execution for node in ("i-1", "i-3"))


def test_what_breaks_only_among_others_is_decided_alone_and_not_put_aside(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_on(monkeypatch, "i-2", times=1)
    assert bench.take(findings(finding("i-1")), findings(finding("i-2"))) == []
    assert bench.refused() == {}
    assert {each.node.instance_id for each in bench.store.all_incidents()} == {"i-1", "i-2"}


def test_a_dependency_that_fails_in_the_middle_of_a_rule_refuses_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_on(monkeypatch, "i-1", error=DependencyError)
    assert bench.take(findings(finding("i-1"))) == [0]
    assert bench.refused() == {}


def test_bad_input_is_put_aside_wherever_it_shows_and_an_unknown_failure_of_a_port_comes_back(bench: Bench) -> None:
    bench.store.unreadable = {"i-2": BadInputError("i-2 has no keys."), "i-3": RuntimeError("cannot start a thread")}
    assert bench.take(*(findings(finding(f"i-{number}")) for number in range(1, 4))) == [2]
    assert bench.refused() == {"1": "i-2 has no keys."}
    assert bench.incident("i-1").status is IncidentStatus.SETTLING


def test_what_cannot_be_put_aside_comes_back(bench: Bench) -> None:
    bench.dead.down = True
    assert bench.take("{", findings(finding()), findings(finding(cluster="lost"))) == [2, 0]
    assert bench.refused() == {}
    assert bench.incident().status is IncidentStatus.SETTLING
    counted = bench.telemetry.counts
    assert (counted["MessagesRefused"], counted["MessagesFailed"]) == (0, 2)
    bench.dead.down = False
    assert bench.take("{") == []


def test_dying_after_the_letter_brings_the_message_again_and_it_is_still_one_letter(bench: Bench) -> None:
    for _ in range(2):  # the answer of the first invocation never reached the queue
        assert bench.take("{", findings(finding())) == []
    assert list(bench.refused()) == ["0"]
    assert len(bench.store.all_incidents()) == 1


def test_an_outage_puts_nothing_aside_however_long_it_lasts(bench: Bench) -> None:
    bench.store.down = True
    for _ in range(30):
        assert bench.take("{", findings(finding())) == [1]
    assert list(bench.refused()) == ["0"]
    bench.store.down = False
    assert bench.take(findings(finding())) == []
    assert bench.incident().status is IncidentStatus.SETTLING

"""Whether silence says anything: pure, by moments."""

from datetime import UTC, datetime, timedelta

import pytest

from functions.ports.heartbeats import name_of_canary
from functions.ports.triage import Heard
from functions.sweep.silence import Patience, Verdict, judge, read_signs
from policies.contract.envelope import CANARY_NODE

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
PATIENCE = Patience()


def ago(name: str, seconds: float) -> Heard:
    return Heard("c", name, "boot", NOW - timedelta(seconds=seconds))


def verdict(*heard: Heard, expected: set[str] | None = None) -> Verdict:
    signs = read_signs({one.instance_id: one for one in heard}, NOW, PATIENCE)
    alive = {one.instance_id for one in heard if not one.instance_id.startswith(CANARY_NODE)}
    return judge(signs, alive if expected is None else expected, NOW, PATIENCE)


def silent(*heard: Heard, expected: set[str] | None = None) -> list[str]:
    return [one.instance_id for one in verdict(*heard, expected=expected).silent]


CANARY = ago(CANARY_NODE, 20)
TALKING = [ago(f"i-{number}", 80) for number in range(20)]
WAY = ago(name_of_canary("i-x"), 20)


def test_a_node_whose_way_is_proven_and_that_said_nothing_for_long_is_silent() -> None:
    assert silent(CANARY, *TALKING, WAY, ago("i-x", 150)) == ["i-x"]


def test_a_node_may_be_quiet_as_long_as_a_healthy_one_is() -> None:
    assert silent(CANARY, *TALKING, WAY, ago("i-x", 149)) == []


@pytest.mark.parametrize("canary", [ago(CANARY_NODE, 181), ago("i-other", 0)], ids=["stale", "none"])
def test_while_the_pipeline_lags_silence_means_nothing(canary: Heard) -> None:
    assert silent(canary, *TALKING, WAY, ago("i-x", 600)) == []
    assert not read_signs({canary.instance_id: canary}, NOW, PATIENCE).proven


@pytest.mark.parametrize(
    "way",
    [ago(name_of_canary("i-y"), 20), ago(name_of_canary("i-x"), 181), ago(name_of_canary("i-x"), 581)],
    ids=["another way", "too long ago", "before the silence was one"],
)
def test_a_node_whose_own_way_is_not_proven_is_not_silent(way: Heard) -> None:
    assert silent(CANARY, *TALKING, way, ago("i-x", 600)) == []


def test_a_canary_that_came_too_soon_after_the_last_sign_proves_nothing() -> None:
    assert silent(CANARY, *TALKING, ago(name_of_canary("i-x"), 60), ago("i-x", 160)) == []


def test_who_is_not_expected_to_be_alive_is_not_silent() -> None:
    assert silent(CANARY, *TALKING, WAY, ago("i-x", 600), expected=set()) == []


def test_many_at_once_accuse_what_they_share() -> None:
    heard = [CANARY, *TALKING[:8], *(ago(f"i-s{number}", 125) for number in range(3))]
    heard.extend(ago(name_of_canary(f"i-s{number}"), 5) for number in range(3))
    found = verdict(*heard)
    assert found.silent == ()
    assert [one.instance_id for one in found.many] == ["i-s0", "i-s1", "i-s2"]


def test_two_silent_nodes_of_a_small_cluster_are_two_faults() -> None:
    heard = [CANARY, ago("i-a", 200), ago("i-b", 200), ago("i-c", 5)]
    assert silent(*heard, ago(name_of_canary("i-a"), 5), ago(name_of_canary("i-b"), 5)) == ["i-a", "i-b"]


def test_three_of_a_large_cluster_are_three_faults() -> None:
    names = ("i-a", "i-b", "i-c")
    heard = [CANARY, *TALKING, *(ago(name, 200) for name in names), *(ago(name_of_canary(name), 5) for name in names)]
    assert silent(*heard) == list(names)

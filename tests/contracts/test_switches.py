"""What may act now: the twin and DynamoDB read the same from the same table."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import boto3
import pytest
from moto import mock_aws

from functions.adapters.policies import DynamoPolicies
from functions.adapters.self_shadows import DynamoSelfShadows
from functions.adapters.switches import DynamoSwitches
from functions.ports.coordination import Switchboard
from functions.ports.policies import Head, PolicyStore
from functions.twins.policies import MemoryPolicies
from functions.twins.switches import MemorySwitches
from policies.contract.errors import DependencyError
from policies.contract.vocabulary import PolicyMode
from policies.coordination.snapshot import ConflictError
from policies.coordination.switches import EVERYTHING, SelfShadow
from tests.tools.tables import create_policies_table

NOW = datetime(2026, 3, 1, 10, tzinfo=UTC)
SHADOW = SelfShadow(policy="a", cluster="west", incident="i", since=NOW, why="acted 6 times within 1h")


class Store(PolicyStore, Protocol):
    """With the pen of an operator."""

    def put_live(self, item: Mapping[str, Any]) -> None: ...


@dataclass(frozen=True)
class World:
    store: Store
    switches: Switchboard

    def put(self, name: str, mode: PolicyMode, revision: int = 1) -> None:
        self.store.put_head(Head(name, revision, f"h{revision}", mode, "{}"), after=revision - 1)

    def stop(self, **fields: str) -> None:
        self.store.put_live({"name": EVERYTHING, **fields})


@pytest.fixture(params=["memory", "dynamodb"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "memory":
        policies = MemoryPolicies()
        yield World(policies, MemorySwitches(policies))
        return
    with mock_aws():
        client = boto3.client("dynamodb")
        create_policies_table(client)
        yield World(DynamoPolicies(client, "policies"), DynamoSwitches(client, "policies"))


def test_each_policy_has_the_mode_in_force(world: World) -> None:
    for name, mode in (("a", PolicyMode.ACTIVE), ("b", PolicyMode.SHADOW), ("c", PolicyMode.OFF)):
        world.put(name, mode)
    read = world.switches.read(["a", "b", "c"])
    assert [read.why_not(name) for name in "abc"] == ["", "policy b is in shadow", "policy c is off"]


def test_the_latest_head_counts(world: World) -> None:
    world.put("a", PolicyMode.ACTIVE)
    assert not world.switches.read(["a"]).why_not("a")
    world.put("a", PolicyMode.OFF, revision=2)
    assert world.switches.read(["a"]).why_not("a")


def test_of_a_policy_that_was_edited_since_that_is_known_and_of_another_nothing(world: World) -> None:
    world.put("a", PolicyMode.ACTIVE)
    world.put("a", PolicyMode.ACTIVE, revision=2)
    read = world.switches.read(["a", "b"])
    assert [read.is_edited("a", 1), read.is_edited("a", 2), read.is_edited("b", 1)] == [True, False, False]


def test_what_is_not_in_force_does_not_act(world: World) -> None:
    world.store.put_live({"name": "a", "mode": "active"})  # the guard has not looked yet
    assert world.switches.read(["a"]).why_not("a") == "policy a is off"


@pytest.mark.parametrize("mode", ["off", "shadow", "OFF", "stop", ""])
def test_one_item_stops_everything_however_it_is_spelt(world: World, mode: str) -> None:
    world.put("a", PolicyMode.ACTIVE)
    world.stop(mode=mode, edited_by="kim", reason="a bad image")
    assert world.switches.read(["a"]).why_not("a") == "everything is stopped by kim: a bad image"


def test_a_stop_with_nothing_beside_it_stops(world: World) -> None:
    world.stop()
    assert world.switches.read(["a"]).why_not("a") == "everything is stopped"


def test_a_stop_that_was_taken_back_stops_nothing(world: World) -> None:
    world.put("a", PolicyMode.ACTIVE)
    world.stop(mode="off")
    world.stop(mode="active", edited_by="kim")
    assert not world.switches.read(["a"]).why_not("a")


def test_more_policies_than_one_read_takes(world: World) -> None:
    names = [f"p-{number}" for number in range(130)]
    for name in names:
        world.put(name, PolicyMode.ACTIVE)
    read = world.switches.read(names)
    assert [name for name in names if read.why_not(name)] == []


def test_a_policy_that_put_itself_in_shadow_does_not_act_but_ends_what_it_began(world: World) -> None:
    world.put("a", PolicyMode.ACTIVE)
    world.put("b", PolicyMode.ACTIVE)
    world.switches.put_in_shadow(SHADOW)
    read = world.switches.read(["a", "b"])
    assert read.shadows == {"a": SHADOW}
    assert read.why_not("a") == f"policy a has put itself in shadow: {SHADOW.told}"
    assert not read.why_not("a", begun=True)
    assert not read.why_not("b")


def test_a_shadow_that_was_lifted_is_known_and_holds_nobody_back(world: World) -> None:
    world.put("a", PolicyMode.ACTIVE)
    world.switches.put_in_shadow(SHADOW)
    lifted = SHADOW.model_copy(update={"lifted_at": NOW, "lifted_by": "kim", "version": 2})
    world.switches.put_in_shadow(lifted)
    read = world.switches.read(["a"])
    assert read.shadows == {"a": lifted}
    assert not read.why_not("a")


@pytest.mark.parametrize("version", [1, 3])
def test_a_shadow_is_written_on_top_of_the_one_that_was_read(world: World, version: int) -> None:
    world.switches.put_in_shadow(SHADOW)
    with pytest.raises(ConflictError):
        world.switches.put_in_shadow(SHADOW.model_copy(update={"version": version, "incident": "another"}))
    assert world.switches.read(["a"]).shadows == {"a": SHADOW}


def test_a_shadow_on_top_of_none_is_refused(world: World) -> None:
    with pytest.raises(ConflictError):
        world.switches.put_in_shadow(SHADOW.model_copy(update={"version": 2}))


def test_what_the_operator_says_is_told_before_what_the_policy_did(world: World) -> None:
    world.put("a", PolicyMode.OFF)
    world.switches.put_in_shadow(SHADOW)
    assert world.switches.read(["a"]).why_not("a") == "policy a is off"


def test_a_shadow_that_somebody_broke_is_one() -> None:
    with mock_aws():
        client = boto3.client("dynamodb")
        create_policies_table(client)
        DynamoPolicies(client, "policies").put_head(Head("a", 1, "h", PolicyMode.ACTIVE, "{}"), after=0)
        client.put_item(TableName="policies", Item={"name": {"S": "#shadow#a"}, "sk": {"S": "shadow"}})
        read = DynamoSwitches(client, "policies").read(["a"])
    assert "cannot be read" in read.why_not("a")


def test_people_see_who_is_in_shadow_and_lift_it() -> None:
    with mock_aws():
        client = boto3.client("dynamodb")
        create_policies_table(client)
        shadows = DynamoSelfShadows(client, "policies")
        assert shadows.all() == {}
        assert shadows.lift("a", "kim", NOW) is None
        shadows.put(SHADOW)
        assert shadows.all() == {"a": SHADOW}
        assert shadows.lift("a", "kim", NOW) == SHADOW
        assert shadows.lift("a", "kim", NOW) is None
        assert shadows.all() == {}


def test_a_head_that_somebody_broke_does_not_act() -> None:
    with mock_aws():
        client = boto3.client("dynamodb")
        create_policies_table(client)
        for name, mode in (("a", {"mode": {"S": "on"}, "revision": {"S": "x"}}), ("b", {})):
            client.put_item(TableName="policies", Item={"name": {"S": name}, "sk": {"S": "head"}, **mode})
        read = DynamoSwitches(client, "policies").read(["a", "b"])
    assert read.why_not("a")
    assert read.why_not("b")
    assert not read.is_edited("a", 1), "nobody knows"


def test_a_table_that_is_not_there_is_a_dependency_that_failed() -> None:
    with mock_aws(), pytest.raises(DependencyError, match="deploy again"):
        DynamoSwitches(boto3.client("dynamodb"), "policies").read(["a"])

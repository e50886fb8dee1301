from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from agent.check_result import CheckResult
from agent.host.checks import checks
from agent.host.sources import asks_metadata, sources
from agent.polls.reading import Poll
from agent.settings import Settings
from agent.wiring import Wiring
from policies.contract.vocabulary import Source
from tests.tools.file_trees import grow

MACHINE = {"edac", "clock", "memory", "disks", "mounts"}
NOTICES = {"spot", "maintenance"}


def settings(**values: object) -> Settings:
    return Settings.model_validate({"cluster": "c", "stream": "s", **values})


@dataclass
class _Wiring:
    """Notes what would be run, and how often."""

    settings: Settings
    prober: None = None
    every: dict[str, float] = field(default_factory=dict)

    def poll(self, name: str, poll: Poll, source: Source, *, every: float, deadline: float = 10.0) -> Any:  # noqa: ANN401
        self.every[name] = every
        return lambda _stop: None


def test_each_source_has_its_pace_and_spot_notices_are_looked_for_every_five_seconds() -> None:
    wiring = _Wiring(settings())
    assert set(sources(cast("Wiring", wiring))) == MACHINE | NOTICES
    assert wiring.every["spot"] == 5


def test_off_means_that_nothing_is_measured() -> None:
    assert sources(cast("Wiring", _Wiring(settings(host_checks=False)))) == {}
    assert [result.state for result in checks(settings(host_checks=False))] == ["not_here"]


@pytest.mark.parametrize(
    ("values", "asked"),
    [
        ({}, True),
        ({"instance_id": "i-1"}, False),
        ({"instance_id": "i-1", "metadata_endpoint": "http://127.0.0.1:1"}, True),
    ],
)
def test_who_names_the_instance_need_not_have_its_metadata(values: dict[str, str], *, asked: bool) -> None:
    assert asks_metadata(settings(**values)) is asked


def found(**values: object) -> dict[str, CheckResult]:
    return {result.name: result for result in checks(settings(**values))}


def test_what_can_be_measured_here_says_so_and_what_is_not_here_says_why(tmp_path: Path) -> None:
    results = found(instance_id="i-1", sysfs=tmp_path)
    assert set(results) == MACHINE | {"ec2 notices"}
    assert [name for name, one in results.items() if not one.ok] == []
    assert results["edac"].state == results["ec2 notices"].state == "not_here"
    assert "no EDAC driver" in results["edac"].found
    assert results["disks"].state == "works"


def test_where_the_nodes_proc_is_not_seen_the_checks_say_what_to_do(tmp_path: Path) -> None:
    results = found(instance_id="i-1", procfs=tmp_path)
    failing = {name: one for name, one in results.items() if not one.ok}
    assert set(failing) == {"memory", "disks", "mounts"}
    assert all("`procfs`" in one.hint for one in failing.values())


def test_a_metadata_service_that_nobody_runs_is_not_here() -> None:
    results = found(metadata_endpoint="http://127.0.0.1:1")
    assert {results[name].state for name in NOTICES} == {"not_here"}


def test_a_node_whose_memory_is_counted_works(tmp_path: Path) -> None:
    grow(tmp_path, Path("tests/data/host/edac/p5.txt").read_text())
    assert found(instance_id="i-1", sysfs=tmp_path)["edac"].state == "works"

"""The agent at work, in one process: sources that are ill, calls that hang, loops that go on, settings that change."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from agent import runtime, supervise
from agent.envelopes import EnvelopeMaker
from agent.lanes import MemoryLane
from agent.main import utc_now
from agent.publisher import Clocks, Pace, Publisher
from agent.runtime import Around, Runtime
from agent.settings import Settings
from agent.spool.limits import SpoolLimits
from agent.spool.opening import open_spool
from agent.status.client import ask, status
from agent.wiring import Run, Wiring
from policies.contract.errors import DependencyError, SettingsError
from tests.tools.agent_events import describe_loss, new_ids
from tests.tools.sources import NODE, eventually


def nobody(path: str) -> str:
    raise DependencyError("no metadata here.", hint="It is a test.")


class Scene:
    """A runtime whose sources are those of the test."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.lane = MemoryLane()
        self.go_on = threading.Event()
        self.sources: dict[str, Run] = {}
        self.wirings: list[Wiring] = []
        monkeypatch.setattr(supervise, "_FIRST_SECONDS", 0.01)
        monkeypatch.setattr(runtime, "GROUPS", {"job": self.made, "logs": lambda _wiring: {}})

    def made(self, wiring: Wiring) -> Mapping[str, Run]:
        self.wirings.append(wiring)
        return dict(self.sources)

    def settings(self, **values: object) -> Settings:
        return Settings.model_validate({
            "cluster": "c", "stream": "s", "instance_id": "i-1", "spool_dir": str(self.folder / "spool"),
            "kernel_log": str(self.folder / "kernel.log"), "journal_units": [], "service_logs": [],
            "status_socket": str(self.folder / "s"), "evidence_per_hour": 0, **values,
        })  # fmt: skip

    def hangs(self, stop: threading.Event) -> None:
        with self.wirings[0].vitals.measuring("nvml", 0.01):
            self.go_on.wait()

    def steps(self, agent: Runtime) -> bool:
        """Let a second pass, and tell whether a gap was told by then."""
        agent.step()
        return bool(self.gaps())

    def told(self) -> list[dict[str, Any]]:
        return [event for _, body in self.lane.delivered for event in json.loads(body)["events"]]

    def gaps(self) -> list[dict[str, Any]]:
        return [event for event in self.told() if event["kind"] == "pipeline.gap"]


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(tmp_path, monkeypatch)


@pytest.fixture
def begun(scene: Scene) -> Iterator[Callable[[], Runtime]]:
    """Begin the runtime; it ends with the test."""
    with open_spool(
        scene.folder / "spool",
        owner="i-1",
        boot_id="b",
        limits=SpoolLimits(),
        clock=utc_now,
        new_id=new_ids(),
        describe_loss=describe_loss,
    ) as spool:
        publisher = Publisher(
            spool,
            EnvelopeMaker(NODE, "0"),
            kinesis=scene.lane,
            overflow=None,
            pace=Pace(heartbeat=0.05),
            clocks=Clocks(utc_now, time.monotonic),
            jitter=lambda: 0.0,
        )
        around = Around(NODE, "us-east-1", nobody, {}, utc_now, "0")
        made = Runtime(scene.settings(), around, spool, publisher)

        def begin() -> Runtime:
            made.begin()
            return made

        yield begin
        scene.go_on.set()
        made.end(5)


def test_a_call_that_hangs_is_told_once_as_a_gap_and_the_agent_stays_well(
    scene: Scene, begun: Callable[[], Runtime]
) -> None:
    scene.sources = {"nvml": scene.hangs, "well": lambda stop: (stop.wait(), None)[1]}
    agent = begun()
    eventually(lambda: scene.steps(agent))
    for _ in range(5):
        agent.step()
    beats = len(scene.lane.delivered)
    eventually(lambda: len(scene.lane.delivered) > beats)
    [gap] = scene.gaps()
    assert gap["attributes"] == {"reason": "hung", "of": "nvml"}
    assert {source["name"]: source["state"] for source in status(str(scene.folder / "s"))["sources"]}["nvml"] == "hung"
    assert ask(str(scene.folder / "s"), "/healthz") == "ok\n"


def test_one_that_hangs_ends_neither_a_reload_nor_a_stop(scene: Scene, begun: Callable[[], Runtime]) -> None:
    scene.sources = {"nvml": scene.hangs}
    agent = begun()
    eventually(lambda: any(source["state"] == "hung" for source in status(str(scene.folder / "s"))["sources"]))
    agent.reload(lambda: scene.settings(hang_after_seconds=7))
    assert status(str(scene.folder / "s"))["settings"]["did_not_end"] == ["nvml"]
    assert agent.settings.hang_after_seconds == 7
    began = time.monotonic()
    agent.end(0.5)
    assert time.monotonic() - began < 10


def test_new_settings_reach_the_sources_that_they_concern(scene: Scene, begun: Callable[[], Runtime]) -> None:
    agent = begun()
    agent.reload(lambda: scene.settings(hang_after_seconds=7, cluster="other"))
    assert [wiring.settings.hang_after_seconds for wiring in scene.wirings] == [120, 7]
    assert agent.settings.cluster == "c"
    told = status(str(scene.folder / "s"))["settings"]
    assert (told["live"], told["needs_restart"]) == (["hang_after_seconds"], ["cluster"])


def test_settings_that_are_refused_change_nothing(scene: Scene, begun: Callable[[], Runtime]) -> None:
    agent = begun()
    before = agent.settings

    def wrong() -> Settings:
        raise SettingsError("the file is not TOML.", hint="Mend it.")

    agent.reload(wrong)
    assert agent.settings is before
    assert len(scene.wirings) == 1
    assert status(str(scene.folder / "s"))["settings"]["refused"] == "the file is not TOML."


def test_what_was_told_last_is_there_for_the_evidence(scene: Scene, begun: Callable[[], Runtime]) -> None:
    scene.sources = {"nvml": scene.hangs}
    agent = begun()
    eventually(lambda: scene.steps(agent))
    assert '"reason":"hung"' in "".join(agent._evidence.recent.lines()).replace(": ", ":")


def test_a_new_version_of_the_driver_in_the_settings_is_told_at_once(
    scene: Scene, begun: Callable[[], Runtime]
) -> None:
    agent = begun()
    agent.reload(lambda: scene.settings(driver_version="580.95.05"))
    assert status(str(scene.folder / "s"))["node"]["driver_version"] == "580.95.05"

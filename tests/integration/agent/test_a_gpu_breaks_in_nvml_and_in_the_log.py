"""An agent with eight GPUs behind our own NVML: what breaks there arrives, and what two sources tell is one event."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.agent.world import World
from tests.tools.nvml.state import XID, NvmlState, built, environ, needs_compiler, pci_of

Eventually = Callable[[Callable[[], bool]], None]
pytestmark = needs_compiler


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NvmlState:
    state = NvmlState(tmp_path / "nvml")
    for name, value in environ(state, built()).items():
        monkeypatch.setenv(name, value)
    return state


def told(world: World, kind: str) -> list[Any]:
    return [event for envelope in world.in_kinesis() for event in envelope.events if event.kind == kind]


def test_a_gpu_breaks_in_nvml_and_in_the_log(world: World, state: NvmlState, eventually: Eventually) -> None:
    world.make_stream()
    agent = world.start_agent(INSTANCE_TYPE="p5.48xlarge", NVML_POLL_SECONDS="0.5")
    state.field(2, 4, 1)
    eventually(lambda: [one.count for one in told(world, "gpu.ecc_uncorrected")] == [1])
    [error] = told(world, "gpu.ecc_uncorrected")
    assert (error.source, error.component.pci, error.component.index) == ("nvml", pci_of(2), 2)

    with world.log.open("a") as log:
        log.write(f"3,1,5000000,-;NVRM: Xid (PCI:{pci_of(3)}): 94, pid=7, name=python, Contained: SM (0x1)\n")
    state.event(3, XID, 94)  # the log tells it as well
    state.event(4, XID, 119)  # the log is silent
    state.gpu(5, error=15)
    eventually(lambda: len(told(world, "gpu.lost")) == 1)
    eventually(lambda: len(told(world, "gpu.xid")) == 2)
    xids = {(one.attributes["xid"], one.source, one.component.pci) for one in told(world, "gpu.xid")}
    assert xids == {(94, "kernel_log", pci_of(3)), (119, "nvml", pci_of(4))}

    state.gpu(5, error=None)
    agent.terminate()
    assert agent.wait(90) == 0
    assert [one.component.pci for one in told(world, "gpu.lost")] == [pci_of(5)]
    assert len(told(world, "gpu.xid")) == 2

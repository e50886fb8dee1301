"""The agent with eight GPUs: what it and its prober, the child that calls NVIDIA's driver, cost the node together.

A real agent looks every second at eight H100s with 18 NVLinks each, which are our own NVML in C (tests/tools/nvml):
what is measured is all that is ours. The calls into a real driver come on top, and are the driver's: some 10 to 100
microseconds each, about 20 of them a second and 200 every ten seconds. The promise is 1 % of a core and 80 MiB with
what the agent does by default: the host's checks, evidence and status are on as well. Off are the journal, whose
journalctl is no code of ours, and commands, which nobody gets unasked. RELIGHT_BENCH_SECONDS=5 takes a quick look.
"""

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.agent import bench_world, resident
from tests.bench.measure import Figure, figure
from tests.integration.agent.world import World
from tests.tools.nvml.state import NvmlState, built, environ

SECONDS = float(os.environ.get("RELIGHT_BENCH_SECONDS", "60"))
_SETTLE_SECONDS = 12.0
_PATIENCE_SECONDS = 30.0


def figures() -> Iterator[Figure]:
    """Measure the two processes, with GPUs at 1 s and without."""
    with tempfile.TemporaryDirectory() as folder:
        state = NvmlState(Path(folder) / "state")
        before = dict(os.environ)
        os.environ.update(environ(state, built()))
        try:
            for name, nvml in (("eight GPUs at 1 s", "auto"), ("GPUs off", "off")):
                with bench_world() as world:
                    yield from _agent(world, name, nvml)
        finally:
            os.environ.clear()
            os.environ.update(before)


def _agent(world: World, name: str, nvml: str) -> Iterator[Figure]:
    world.make_stream()
    agent = world.start_agent(
        NVML=nvml,
        INSTANCE_TYPE="p5.48xlarge",
        AVAILABILITY_ZONE="us-east-1a",
        HOST_CHECKS="true",
        EVIDENCE_PER_HOUR=4,
        STATUS_SOCKET=world.folder / "agent.sock",
    )
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not world.in_kinesis() or (nvml == "auto" and not _children(agent.pid)):
        assert time.monotonic() < deadline, "the agent did not begin"
        time.sleep(0.1)
    time.sleep(_SETTLE_SECONDS)
    pids = [agent.pid, *_children(agent.pid)]
    began, before = time.perf_counter(), _seconds(pids)
    time.sleep(SECONDS)
    share = (_seconds(pids) - before) / (time.perf_counter() - began) * 100
    yield figure(f"agent: processor with its child, {name}", "% of a core", [share], better="lower")
    for which, few in (("agent alone", pids[:1]), ("its child", pids[1:]), ("both", pids)):
        if few:
            memory = sum(resident(pid) for pid in few)
            yield figure(f"agent: resident memory, {name}, {which}", "MiB", [memory], better="lower")
    yield figure(f"agent: proportional memory (PSS), {name}, both", "MiB", [sum(map(_shared, pids))], better="lower")


def _children(pid: int) -> list[int]:
    return [
        int(word) for task in Path(f"/proc/{pid}/task").iterdir() for word in (task / "children").read_text().split()
    ]


def _seconds(pids: list[int]) -> float:
    """Processor time of these, by the scheduler's own nanoseconds: the ticks of /proc/PID/stat are too coarse."""
    return sum(_nanoseconds(pid) for pid in pids) / 1e9


def _nanoseconds(pid: int) -> int:
    return sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir())


def _shared(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("Pss:"))) / 1024

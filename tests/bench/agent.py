"""The agent: how fast a fault leaves the node, and what the agent costs the node.

A real agent process on a real log file; Kinesis is moto in this process, on loopback. A fault's latency runs from just
before its line is written to the arrival time that the stream gives the record, so it holds reading, parsing, the spool
with its fdatasync, the linger and the put, without the answer's way back. RELIGHT_BENCH_SECONDS=3 takes a quick look at
what the agent costs, idle (its heartbeats go on) and with a log of 1,000 ordinary records a second.
"""

import logging
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from moto.server import ThreadedMotoServer

from tests.bench.measure import Figure, figure, quantiles
from tests.integration.agent.world import World

FAULTS = 150
SECONDS = float(os.environ.get("RELIGHT_BENCH_SECONDS", "30"))
LINES_A_SECOND, PORTIONS_A_SECOND = 1000, 50
TICKS = os.sysconf("SC_CLK_TCK")
HEALTHY = "6,4003,3757433151,-;IPv6: ADDRCONF(NETDEV_CHANGE): calia3f11b97c70: link becomes ready"


def figures() -> Iterator[Figure]:
    """Measure a process."""
    with bench_world() as world:
        yield from _process(world)


@contextmanager
def bench_world() -> Iterator[World]:
    """Make an AWS and a node that reports to it."""
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # else it writes a line a call
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder), f"http://{host}:{port}")
        try:
            yield world
        finally:
            world.stop_agents()
            server.stop()


def _process(world: World) -> Iterator[Figure]:
    world.make_stream()
    began = time.perf_counter()
    agent = world.start_agent()
    while not world.in_kinesis():
        time.sleep(0.005)
    yield figure("agent: start to first heartbeat", "s", [time.perf_counter() - began], better="lower")
    written = []
    for _ in range(FAULTS):
        written.append(time.time())
        world.break_gpus(1)
        time.sleep(0.05)
    while len(world.seen()) < FAULTS:
        time.sleep(0.05)
    milliseconds = [(arrived - at) * 1000 for at, arrived in zip(written, world.arrivals(), strict=True)]
    yield from quantiles("agent: fault written to accepted by the stream", "ms", milliseconds, better="lower")
    for name, let_pass in (("while nothing happens", _rest), ("at 1,000 records a second", _chatter)):
        began, before = time.perf_counter(), _processor_seconds(agent.pid)
        let_pass(world.log)
        share = (_processor_seconds(agent.pid) - before) / (time.perf_counter() - began) * 100
        yield figure(f"agent: processor {name}", "% of a core", [share], better="lower")
        yield figure(f"agent: resident memory {name}", "MiB", [resident(agent.pid)], better="lower")


def _rest(_log: Path) -> None:
    time.sleep(SECONDS)


def _chatter(log: Path) -> None:
    portion = f"{HEALTHY}\n" * (LINES_A_SECOND // PORTIONS_A_SECOND)
    begin = time.perf_counter()
    with log.open("a") as file:
        for place in range(int(SECONDS * PORTIONS_A_SECOND)):
            time.sleep(max(0.0, begin + place / PORTIONS_A_SECOND - time.perf_counter()))
            file.write(portion)
            file.flush()


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident(pid: int) -> float:
    """MiB that the process holds."""
    status = Path(f"/proc/{pid}/status").read_text()
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS"))
    return int(kilobytes) / 1024

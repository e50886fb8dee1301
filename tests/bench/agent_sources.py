"""The agent with all its sources, and how what it takes grows from 1,000 to 1,000,000 lines.

In this process: a log of N lines through reader, parsers, bursts and spool (processor time a line, memory, and what
stands in the spool at the end), for ordinary lines with a fault in a thousand, and for a storm of one fault. In a
process of its own: the agent on a kernel log, 64 ranks' logs, a journal and a service's log, Kinesis being moto on
loopback: memory before and after, and how long a fault takes while ranks and a storm of other lines keep it busy.

RELIGHT_BENCH_LINES=10000 is the most lines of a quick look.
"""

import gc
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import count, takewhile
from pathlib import Path

from agent.events import EventMaker
from agent.follow.tail import FileTail
from agent.follow.work import LogWork
from agent.kernel_log.joiner import Joiner
from agent.kernel_log.source import NAME, KernelClassifier
from agent.main import utc_now
from agent.spool.limits import SpoolLimits
from agent.spool.opening import open_spool
from agent.spool.spool import Spool
from policies.contract.envelope import NodeIdentity
from policies.contract.vocabulary import Source
from tests.bench.agent import HEALTHY, bench_world, resident
from tests.bench.measure import Figure, figure, quantiles
from tests.integration.agent.world import World
from tests.tools.agent_events import describe_loss, new_ids

MOST = int(os.environ.get("RELIGHT_BENCH_LINES", "1000000"))
SIZES = [*takewhile(lambda size: size <= MOST, (1_000, 10_000, 100_000, 1_000_000))]
NODE = NodeIdentity(cluster="c", name="n", instance_id="i-1", boot_id="b")
FAULTY_LINE = 1_000  # one of so many is a fault
RANKS, FAULTS = 64, 100
_ORDINARY = HEALTHY.partition(";")[2]


def figures() -> Iterator[Figure]:
    """Measure growth in this process, then a process."""
    for size in SIZES:
        yield from _read(f"{size:,} lines, a fault in a thousand", size, storm=False)
    for size in SIZES:
        yield from _read(f"a storm of {size:,} lines", size, storm=True)
    with bench_world() as world:
        yield from _all_sources(world)


def _read(name: str, size: int, *, storm: bool) -> Iterator[Figure]:
    """Read a log of *size* lines once."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.log"
        _write(path, size, storm=storm)
        with open_spool(
            Path(folder) / "spool",
            owner="i-1",
            boot_id="b",
            limits=SpoolLimits(),
            clock=utc_now,
            new_id=new_ids(),
            describe_loss=describe_loss,
        ) as spool:
            gc.collect()
            before, began = resident(os.getpid()), time.process_time()
            _follow(path, spool)
            seconds, grown = time.process_time() - began, resident(os.getpid()) - before
            journal = (Path(folder) / "spool" / "spool.journal").stat().st_size
            events = max(spool.waiting, 1)
    yield figure(f"agent: lines a second of one core, {name}", "lines/s", [size / seconds], better="higher")
    yield figure(f"agent: events of {name}", "events", [events], better="lower")
    yield figure(f"agent: spool bytes an event, {name}", "bytes", [journal / events], better="lower")
    yield figure(f"agent: memory grown by reading {name}", "MiB", [max(grown, 0.0)], better="lower")


def _write(path: Path, size: int, *, storm: bool) -> None:
    """Ten thousand lines a second by the kernel's clock."""
    with path.open("w") as file:
        for number in range(size):
            text = _ORDINARY
            if storm or number % FAULTY_LINE == 0:
                pci = (
                    "0000:4b:00"
                    if storm
                    else f"0000:{number // FAULTY_LINE // 32 % 256:02x}:{number // FAULTY_LINE % 32:02x}"
                )
                text = f"NVRM: Xid (PCI:{pci}): 31, pid=1, name=python, Ch 00000008"
            file.write(f"4,{number},{number * 100},-;{text}\n")


def _follow(path: Path, spool: Spool) -> None:
    tail = FileTail(path, None, clock=utc_now)
    work = LogWork(
        NAME, spool, EventMaker(NODE, Source.KERNEL_LOG, lambda _seen: None), KernelClassifier(utc_now()).classify
    )
    joiner = Joiner()
    while items := tail.look():
        work.take(joiner.take(items))
    work.take(joiner.take([]))
    work.finish()
    tail.close()


def _all_sources(world: World) -> Iterator[Figure]:
    ranks = world.folder / "ranks"
    ranks.mkdir()
    service = world.folder / "fabricmanager.log"
    world.make_stream()
    agent = world.start_agent(
        TRAINING_LOGS=ranks / "*.log", SERVICE_LOGS=service, JOURNAL_UNITS="containerd.service,kubelet.service"
    )
    while not world.in_kinesis():
        time.sleep(0.01)
    time.sleep(3)  # what is there before the first look is old
    for rank in range(RANKS):
        (ranks / f"rank{rank}.log").write_text("step: 1 loss: 2.3\n")
    service.touch()
    time.sleep(5)
    yield figure("agent: resident memory, all sources", "MiB", [resident(agent.pid)], better="lower")
    yield from _busy(world, ranks)
    yield figure(
        "agent: resident memory, all sources, after a million lines", "MiB", [resident(agent.pid)], better="lower"
    )


def _busy(world: World, ranks: Path) -> Iterator[Figure]:
    """Faults in between while every rank writes ten lines a second, and the kernel's log is a storm of other lines."""
    stop = threading.Event()
    writer = threading.Thread(target=_keep_busy, args=(world.log, ranks, stop))
    writer.start()
    written = []
    try:
        for _ in range(FAULTS):
            written.append(time.time())
            world.break_gpus(1)
            time.sleep(0.1)
    finally:
        stop.set()
        writer.join()
    while len(world.seen()) < FAULTS:
        time.sleep(0.05)
    milliseconds = [(arrived - at) * 1000 for at, arrived in zip(written, world.arrivals(), strict=True)]
    yield from quantiles("agent: fault written to accepted, all sources busy", "ms", milliseconds, better="lower")
    lines = 0
    with world.log.open("a") as file:
        while lines < MOST:
            file.write(f"{HEALTHY}\n" * 1000)
            lines += 1000
    world.break_gpus(1)
    while len(world.seen()) < FAULTS + 1:
        time.sleep(0.1)


def _keep_busy(log: Path, ranks: Path, stop: threading.Event) -> None:
    for turn in count():
        if stop.wait(0.1):
            return
        for rank in range(RANKS):
            with (ranks / f"rank{rank}.log").open("a") as file:
                file.write(f"step: {turn} loss: 2.3 memory: 60.11GiB(75.93%)\n")
        with log.open("a") as file:
            file.write(f"{HEALTHY}\n" * 200)

"""A GPU, or its driver, that tells rubbish: it costs nobody a look at what is well, and is never taken for a fault."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.gpu.judge import Expected
from agent.gpu.nvml.poll import NvmlPoll
from agent.gpu.nvml.reader import ProbeReader
from agent.xid_ledger import XidLedger
from tests.tools.nvml.state import NvmlState, needs_compiler, pci_of, prober, uuid_of
from tests.tools.polling import LATE, bench

pytestmark = needs_compiler


@pytest.fixture
def state(tmp_path: Path) -> NvmlState:
    return NvmlState(tmp_path / "state", 2)


@pytest.fixture
def reader(state: NvmlState) -> Iterator[ProbeReader]:
    with prober(state) as made:
        yield ProbeReader(made)


RUBBISH = ["\udcff\udcfe\udc80", "a|b|c", "GPU\x01\x02", "\x7f" * 60, "nul l"]


@pytest.mark.parametrize("text", RUBBISH, ids=range(len(RUBBISH)))
def test_what_names_a_gpu_and_is_no_name_is_not_told(state: NvmlState, reader: ProbeReader, text: str) -> None:
    state.gpu(0, uuid=text, serial=text)
    first, second = reader.look(closely=True).gpus
    assert (first.uuid, first.serial, first.pci, first.error) == (None, None, pci_of(0), None)
    assert second.uuid == uuid_of(1)


@pytest.mark.parametrize("address", ["0:fff:0", "0:1:20", "ffffffff:ffffffff:ffffffff", "-"])
def test_an_address_that_no_bus_has_is_none(state: NvmlState, reader: ProbeReader, address: str) -> None:
    state.gpu(0, pci=address)
    assert [gpu.pci for gpu in reader.look(closely=True).gpus] == [None, pci_of(1)]


@pytest.mark.parametrize("count", [1_000_000, 4_294_967_295])
def test_very_many_gpus_take_no_longer_than_a_look_may(state: NvmlState, reader: ProbeReader, count: int) -> None:
    state.library(count=count)
    began = time.monotonic()
    gpus = reader.look(closely=True).gpus
    assert len(gpus) == 64
    assert time.monotonic() - began < 60


COUNTERS = (3, 4, 5, 6, 12, 30, 94, 143, 230)


@pytest.mark.parametrize("number", ["-1", "18446744073709551615", "9223372036854775807"])
def test_counts_that_cannot_be_are_no_faults(state: NvmlState, reader: ProbeReader, number: str) -> None:
    poll = NvmlPoll(reader, XidLedger(), Expected(2))
    with bench() as work:
        told = work.poll(poll, 0)
        for field in COUNTERS:
            state.field(0, field, number)
        for field in (161, 162, 163):
            for link in range(18):
                state.field(0, field, number, link=link)
        told += work.poll(poll, 20)
        for field in COUNTERS:
            state.field(0, field, 0)
        told += [event for second in (40, 60, 130) for event in work.poll(poll, second, uptime=LATE)]
    assert told == []

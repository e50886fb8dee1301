from pathlib import Path

import pytest

from agent.kernel_log.record import parse_record
from local.fleet.kernel_log import KernelLog, pci_of


def test_every_record_has_the_form_of_dev_kmsg(tmp_path: Path) -> None:
    times = iter(range(100, 200))
    log = KernelLog(tmp_path / "kmsg", monotonic=lambda: float(next(times)))
    log.xid(3, 79)
    records = [parse_record(line) for line in log.path.read_text().splitlines()]
    assert [record.seq for record in records] == list(range(5))
    assert [record.uptime for record in records] == [second * 1_000_000 for second in range(100, 105)]
    assert {record.facility for record in records} == {0}
    assert records[3].text == (
        "NVRM: Xid (PCI:0000:86:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
    )
    assert records[4].text == "NVRM: GPU 0000:86:00.0: GPU has fallen off the bus."


@pytest.mark.parametrize("number", [13, 48, 63, 94])
def test_an_xid_names_its_gpu(tmp_path: Path, number: int) -> None:
    log = KernelLog(tmp_path / "kmsg")
    log.xid(0, number)
    assert f"Xid (PCI:{pci_of(0)}): {number}, pid=" in log.path.read_text()

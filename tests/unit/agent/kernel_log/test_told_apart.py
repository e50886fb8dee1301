"""What was said before boot or while the driver was loading, and what recovered, is told apart."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from agent.follow.reader import FixedPlace, LogRecord
from agent.kernel_log.boots import boot_begins
from agent.kernel_log.record import parse_record
from agent.kernel_log.source import KernelClassifier
from policies.contract.catalog.nvlink5 import DriverLayout
from policies.contract.events import Scalar
from tests.tools.agent_events import START

XID = "NVRM: Xid (PCI:0000:4b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
PROBE = "NVRM: GPU 0000:69:00.0: RmInitAdapter failed! (0x22:0x56:894)"


def told(classifier: KernelClassifier, *lines: str) -> list[dict[str, Scalar]]:
    """The attributes of what *lines* tell of."""
    found: list[dict[str, Scalar]] = []
    for number, line in enumerate(lines):
        record = parse_record(line)
        at = record.at or START
        found += [
            dict(sighting.attributes)
            for sighting in classifier.classify(LogRecord(record, str(number), at, FixedPlace({"seq": number})))
        ]
    return found


@pytest.fixture
def classifier() -> KernelClassifier:
    return KernelClassifier(START - timedelta(hours=1))


def test_a_line_that_was_written_before_boot_says_so(classifier: KernelClassifier) -> None:
    before, after = told(
        classifier,
        f"2026-01-31T10:00:00.000000+00:00 host kernel: {XID}",
        f"2026-01-31T11:30:00.000000+00:00 host kernel: {XID}",
    )
    assert before["before_boot"] is True
    assert "before_boot" not in after


def test_the_lines_before_the_last_banner_are_of_another_boot(tmp_path: Path) -> None:
    path = tmp_path / "kern.log"
    old = "[ 9000.000000] something\n[ 9001.000000] usb: Product: Linux version of a thing\n"
    path.write_text(f"[    0.000000] Linux version 5.15.0\n{old}[    0.000000] Linux version 6.1.0\n[    1.0] x\n")
    descriptor = os.open(path, os.O_RDONLY)
    try:
        assert path.read_text()[boot_begins(descriptor) :].startswith("[    0.000000] Linux version 6.1.0")
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("text", ["", "one\ntwo\n", "audit: argv=Linux version 6\n"])
def test_without_a_banner_all_is_of_this_boot(tmp_path: Path, text: str) -> None:
    path = tmp_path / "kern.log"
    path.write_text(text)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        assert boot_begins(descriptor) == 0
    finally:
        os.close(descriptor)


def test_what_a_gpu_says_while_its_driver_loads_is_marked(classifier: KernelClassifier) -> None:
    loading, loaded = told(
        classifier,
        "4,1,5000000,-;nvidia-nvlink: Nvlink Core is being initialized, major device number 509",
        f"3,2,6000000,-;{PROBE}",
        "4,3,8000000,-;nvidia-uvm: Loaded the UVM driver, major device number 507.",
        f"3,4,9000000,-;{XID}",
    )
    assert loading["driver_loading"] is True
    assert "driver_loading" not in loaded


def test_loading_does_not_last_for_ever_and_concerns_no_disk(classifier: KernelClassifier) -> None:
    disk, gpu = told(
        classifier,
        "4,1,5000000,-;NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  570.148.08  Release Build",
        "3,2,6000000,-;EXT4-fs (md0): Remounting filesystem read-only",
        f"3,3,90000000,-;{XID}",
    )
    assert "driver_loading" not in disk
    assert "driver_loading" not in gpu


def test_companions_of_one_physical_error_share_an_occurrence(classifier: KernelClassifier) -> None:
    codes = (48, 63, 64, 94, 95)
    memory = told(classifier, *(f"NVRM: Xid (PCI:0000:4b:00): {code}, pid=1, name=python" for code in codes))
    assert len({attributes["occurrence"] for attributes in memory}) == 1
    lost = told(
        classifier,
        XID,
        "NVRM: GPU 0000:4b:00.0: GPU has fallen off the bus.",
        "NVRM: The NVIDIA GPU 0000:4b:00.0\nNVRM: (PCI ID: 10de:26b5) installed in this system has\n"
        "NVRM: fallen off the bus and is not responding to commands.",
    )
    assert len({attributes["occurrence"] for attributes in lost}) == 1
    assert memory[0]["occurrence"] != lost[0]["occurrence"]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("mlx5_core 0000:0d:00.0 ens1np0: Link up", "network.link_up"),
        ("nfs: server 10.0.0.1 OK", "storage.nfs_recovered"),
        (
            "Lustre: fsx-OST0000-osc-ffff: Connection restored to 10.0.0.1@tcp (at 10.0.0.1@tcp)",
            "storage.lustre_recovered",
        ),
        (
            "NVRM: Xid (PCI:0000:4b:00): 154, GPU recovery action changed from 0x2 (Node Reboot) to 0x0 (None)",
            "gpu.xid",
        ),
    ],
)
def test_recovery_is_told_as_information(classifier: KernelClassifier, line: str, kind: str) -> None:
    (sighting,) = classifier.classify(LogRecord(parse_record(line), "1", START, FixedPlace({})))
    assert (sighting.kind, sighting.severity) == (kind, "info")


def test_a_rate_limit_of_the_kernel_is_a_gap(classifier: KernelClassifier) -> None:
    (attributes,) = told(classifier, "4,1,5000000,-;pcieport: 31 callbacks suppressed")
    assert attributes == {"reason": "rate_limited", "of": "kernel_log", "lost": 31, "by": "pcieport"}


def test_the_same_words_mean_the_same_until_another_driver_loads_or_somebody_else_says_them() -> None:
    layouts = [DriverLayout.BEFORE_575]
    classifier = KernelClassifier(START - timedelta(hours=1), lambda: layouts[0])
    line = (
        "NVRM: Xid (PCI:0018:62:00): 149, NETIR_LINK_EVT  Fatal   XC0 i0 Link 09 "
        "(0x025525c6 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)"
    )
    before, again = told(classifier, f"3,1,1,-;{line}", f"3,2,2,-;{line}")
    assert before == again
    layouts[0] = DriverLayout.FROM_575
    (after,) = told(
        classifier,
        "4,3,3,-;NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build",
        "4,4,4,-;nvidia-uvm: Loaded the UVM driver, major device number 507.",
        f"3,5,5,-;{line}",
    )
    fresh = KernelClassifier(START - timedelta(hours=1), lambda: DriverLayout.FROM_575)
    assert [after] == told(fresh, f"3,1,1,-;{line}")
    (drill,) = told(classifier, f"12,6,6,-;{line}")
    assert drill["injected"] is True

from pathlib import Path

import pytest

from agent.gpu.bus import gpus_on_bus
from agent.gpu.instance_types import has_narrow_slots
from agent.xid_ledger import XidLedger
from policies.contract.catalog.instances import gpus_of


@pytest.mark.parametrize(
    ("instance_type", "count"),
    [
        *[(f"{family}.24xlarge", 8) for family in ("p4d", "p4de")],
        *[(f"{family}.48xlarge", 8) for family in ("p5", "p5e", "p5en", "p6-b200", "p6-b300", "g5", "g6", "g6e")],
        ("p6e-gb200.36xlarge", 4),
        ("p5.4xlarge", 1),
        ("g4dn.12xlarge", 4),
        ("g4dn.xlarge", 1),
        ("trn2.48xlarge", 0),
        ("trn1.32xlarge", 0),
        ("p9.unheard", None),
        ("m7i.large", None),
        ("", None),
    ],
)
def test_how_many_gpus_an_instance_type_has(instance_type: str, count: int | None) -> None:
    assert gpus_of(instance_type) == count


def test_only_the_g_family_has_narrow_slots() -> None:
    assert [kind for kind in ("g4dn.xlarge", "p5.48xlarge", "", "p6e-gb200.36xlarge") if has_narrow_slots(kind)] == [
        "g4dn.xlarge"
    ]


def test_gpus_on_the_bus_are_nvidias_display_controllers(tmp_path: Path) -> None:
    for name, vendor, kind in (
        ("0000:53:00.0", "0x10de", "0x030200"),
        ("0000:64:00.0", "0x10de", "0x030200"),
        ("0000:65:00.0", "0x10de", "0x068000"),  # an NVSwitch
        ("0000:00:03.0", "0x1d0f", "0x030000"),
    ):
        device = tmp_path / "bus" / "pci" / "devices" / name
        device.mkdir(parents=True)
        (device / "vendor").write_text(f"{vendor}\n")
        (device / "class").write_text(f"{kind}\n")
    assert gpus_on_bus(tmp_path) == ["0000:53:00", "0000:64:00"]
    assert gpus_on_bus(tmp_path / "nowhere") == []


def test_the_ledger_knows_the_last_time_and_is_bounded() -> None:
    ledger = XidLedger()
    ledger.note("0000:53:00", 79, 10.0)
    ledger.note("0000:53:00", 79, 20.0)
    assert ledger.has("0000:53:00", 79, 15.0)
    assert not ledger.has("0000:53:00", 79, 21.0)
    assert not ledger.has("0000:53:00", 94, 0.0)
    for number in range(2000):
        ledger.note("0000:64:00", number, 30.0)
    assert not ledger.has("0000:53:00", 79, 0.0)
    assert ledger.has("0000:64:00", 1999, 30.0)

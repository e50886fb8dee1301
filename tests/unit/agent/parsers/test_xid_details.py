"""What single Xids say behind the code, by driver and by table."""

import pytest

from agent.kernel_log.record import parse_record
from agent.parsers.registry import parse_sightings
from agent.parsers.sighting import Sighting
from policies.contract.catalog.nvlink5 import layout_of
from policies.contract.vocabulary import Severity


def only(record: str, driver: str = "") -> Sighting:
    (sighting,) = parse_sightings(parse_record(record), lambda: layout_of(driver))
    return sighting


def nvlink(words: str, *, fatal: bool = False, unit: str = "RLW_REMAP", xid: int = 145) -> str:
    word = "Fatal" if fatal else "Nonfatal"
    return f"NVRM: Xid (PCI:0000:4b:00): {xid}, {unit} {word} XC1 i0 Link 10 ({words} 0x00000000 0x00000000)"


OLD_WORDS, NEW_WORDS = "0x00000082 0x00000040", "0x00000004 0x00000040"


@pytest.mark.parametrize(
    ("driver", "words", "action"),
    [
        ("570.148.08", OLD_WORDS, "reset_gpu"),
        ("R570", OLD_WORDS, "reset_gpu"),
        ("570.148.08", NEW_WORDS, None),
        ("580.105.08", NEW_WORDS, "reset_gpu"),
        ("580.105.08", OLD_WORDS, None),
        ("", OLD_WORDS, "reset_gpu"),
        ("", NEW_WORDS, "reset_gpu"),
        ("nonsense", NEW_WORDS, "reset_gpu"),
    ],
)
def test_a_known_driver_is_read_by_its_own_layout_and_an_unknown_one_by_either(
    driver: str, words: str, action: str | None
) -> None:
    sighting = only(nvlink(words), driver)
    assert sighting.attributes.get("action") == action
    assert sighting.attributes["error_status"] == "0x00000040"


@pytest.mark.parametrize(
    ("record", "severity"),
    [
        (nvlink("0x00000004 0x00000001"), Severity.WARNING),
        (nvlink("0x00000004 0x00000040"), Severity.ERROR),  # the line says nonfatal, the table asks for a reset
        (nvlink("0x00000004 0x00000040", fatal=True), Severity.CRITICAL),
        (nvlink("0x0000ffff 0x00000001"), Severity.WARNING),  # nobody knows it: the line's own word
        (nvlink("0x0000ffff 0x00000001", fatal=True), Severity.CRITICAL),
        ("NVRM: Xid (PCI:0000:4b:00): 145", Severity.CRITICAL),
    ],
)
def test_the_line_s_word_on_fatality_stands_over_the_code_s(record: str, severity: Severity) -> None:
    assert only(record).severity is severity


def test_the_far_end_is_named_where_the_table_suspects_it() -> None:
    sighting = only(nvlink("0x01500011 0x00000000", fatal=True, unit="NETIR_LINK_EVT", xid=149))
    assert sighting.attributes["look_at"] == "far_end"


def test_the_recovery_action_of_154_decides_where_the_table_leaves_it_to_it() -> None:
    sighting = only(nvlink("0x00000004 0x00000001"))
    assert (sighting.attributes["action"], sighting.attributes["decided_by"]) == ("record", 154)


@pytest.mark.parametrize(
    ("text", "number", "name", "severity"),
    [
        ("from 0x0 (None) to 0x1 (GPU Reset Required)", 1, "gpu_reset", Severity.ERROR),
        ("from 0x0 (None) to 0x1 (PF FLR)", 1, "gpu_reset", Severity.ERROR),
        ("from 0x0 (None) to 0x2 (Node Reboot Required)", 2, "node_reboot", Severity.ERROR),
        ("from 0x0 (None) to 0x3 (Drain P2P)", 3, "drain_p2p", Severity.ERROR),
        ("from 0x0 (None) to 0x4 (Drain and Reset)", 4, "drain_and_reset", Severity.ERROR),
        ("from 0x0 (None) to 0x5 (Recover IMEX Domain)", 5, "imex_domain", Severity.ERROR),
        ("from 0x0 (None) to 0x6 (Bus Reset)", 6, "bus_reset", Severity.ERROR),
        ("from 0x0 (None) to 0x7", 7, "reboot", Severity.ERROR),
        ("from 0x0 (None) to 0xc (Something New)", 12, None, Severity.ERROR),
        ("from 0x4 (Drain and Reset) to 0x0 (None)", 0, "none", Severity.INFO),
        ("from None to Drain and Reset", 4, "drain_and_reset", Severity.ERROR),
        ("from 0x0 )None( to 0x1", 1, "gpu_reset", Severity.ERROR),
        ("from 0x0 (None) to (", None, None, Severity.ERROR),
        ("from 0x0 (None", None, None, Severity.ERROR),
    ],
)
def test_the_recovery_action_is_read_by_number_and_by_name(
    text: str, number: int | None, name: str | None, severity: Severity
) -> None:
    sighting = only(f"NVRM: Xid (PCI:0000:01:00): 154, GPU recovery action changed {text}")
    said = sighting.attributes
    assert (said["xid"], said.get("recovery_action"), said.get("recovery")) == (154, number, name)
    assert sighting.severity is severity


def test_companions_of_one_error_carry_one_key_and_others_none() -> None:
    keys = {
        code: only(f"NVRM: Xid (PCI:0000:4b:00): {code}, x").attributes.get("occurrence")
        for code in (48, 63, 64, 94, 95, 13, 79)
    }
    assert {keys[code] for code in (48, 63, 64, 94, 95)} == {"memory:0000:4b:00"}
    assert keys[13] is None
    assert only("NVRM: The NVIDIA GPU 0000:4b:00.0\nNVRM: fallen off the bus and is not").attributes == {
        "occurrence": keys[79]
    }


def test_a_preempted_channel_is_a_symptom_and_names_its_cause() -> None:
    sighting = only("NVRM: Xid (PCI:0000:4b:00): 45, pid=1, name=python3, Ch 00000001 caused by previous Xid 149")
    assert (sighting.attributes["symptom"], sighting.attributes["caused_by"]) == (True, 149)

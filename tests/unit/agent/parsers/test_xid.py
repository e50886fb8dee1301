"""Every form in which the driver has printed an Xid, and what strangers may write into it."""

# ruff: noqa: E501 - a line of a log is not wrapped

import time
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.kernel_log.record import parse_record
from agent.parsers.registry import parse_sightings
from agent.parsers.sighting import Sighting
from agent.parsers.xid import parse_xid
from policies.contract.events import Scalar
from policies.contract.vocabulary import ComponentType, Kind, Persistence, Severity

# What a stranger could fake: none of these is there unless the line says so.
FIELDS = ("xid", "pid", "process", "gpu_instance", "compute_instance", "link", "subcode", "fatal", "recovery_action")


def only(record: str) -> Sighting:
    (sighting,) = parse_sightings(parse_record(record))
    return sighting


@pytest.mark.parametrize(
    ("record", "pci", "attributes"),
    [
        ("NVRM: Xid (PCI:0000:4b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.", "0000:4b:00", {"xid": 79}),
        ("NVRM: Xid (0000:7D:00): 14, Channel 00000001", "0000:7d:00", {"xid": 14}),
        ("NVRM: Xid (PCI:0000:CB:08.0): 43, pid=77, name=python", "0000:cb:08", {"xid": 43, "pid": 77, "process": "python"}),
        ("NVRM: Xid (PCI:0000:bc:00): 46", "0000:bc:00", {"xid": 46}),
        ("NVRM: Xid (PCI:0000:b0:00): 137, ", "0000:b0:00", {"xid": 137}),
        ("3,17,227996636,-;NVRM: Xid (PCI:0000:b0:00): 48, pid=1, name=a b", "0000:b0:00", {"xid": 48, "pid": 1, "process": "a b"}),
        ("NVRM: Xid (PCI:0000:b0:00): 31, pid='9', name='py, thon', Ch 8", "0000:b0:00", {"xid": 31, "pid": 9, "process": "py, thon"}),
        ('NVRM: Xid (PCI:0000:b0:00): 31, pid=9, name="quoted", Ch 8', "0000:b0:00", {"xid": 31, "pid": 9, "process": "quoted"}),
        ("NVRM: Xid (PCI:0000:b0:00): 13, pid=9, name=x): 79, gone", "0000:b0:00", {"xid": 13, "pid": 9, "process": "x): 79"}),
        (
            "NVRM: Xid (PCI:0000:1a:00 GPU-I:05): 31, pid=2, name=p, Ch 8",
            "0000:1a:00",
            {"xid": 31, "gpu_instance": 5, "pid": 2, "process": "p"},
        ),
        (
            "NVRM: Xid (PCI:0000:1a:00 GPU-I:11 GPU-CI:02): 94, Contained",
            "0000:1a:00",
            {"xid": 94, "gpu_instance": 11, "compute_instance": 2},
        ),
        (
            "NVRM: Xid (PCI:0009:de:00): 154, GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)",
            "0009:de:00",
            {"xid": 154, "recovery_action": 4, "recovery_action_before": 0},
        ),
        (
            "NVRM: Xid (PCI:0000:29:00): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 14(0x100000, 0x0)",
            "0000:29:00",
            {"xid": 74, "link": 14},
        ),
        (
            "NVRM: Xid (PCI:0018:eb:00): 145, pid=5, name=acctg, RLW_SRC_TRACK Nonfatal XC1 i0 Link 03 (0x040868e2 0x00",
            "0018:eb:00",
            {"xid": 145, "pid": 5, "process": "acctg", "subcode": "RLW_SRC_TRACK", "fatal": False, "link": 3},
        ),
        (
            "NVRM: Xid (PCI:0000:f1:00): 146, TLW_RX/TLW_RX_PIPE0  Fatal   XC0 i0 Link -1 (0x0)",
            "0000:f1:00",
            {"xid": 146, "subcode": "TLW_RX/TLW_RX_PIPE0", "fatal": True, "link": -1},
        ),
        ("Jan 21 11:18:36 host-7 kernel: [ 12.5] NVRM: Xid (PCI:0000:4b:00): 63, a#012NVRM: b", "0000:4b:00", {"xid": 63}),
        ("NVRM: GPU 18:00.0: GPU has fallen off the bus.", "0000:18:00", {"xid": 79}),
    ],
)  # fmt: skip
def test_a_printed_form(record: str, pci: str, attributes: Mapping[str, Scalar]) -> None:
    sighting = only(record)
    assert sighting.kind is Kind.GPU_XID
    read = {name: sighting.attributes.get(name) for name in (*FIELDS, *attributes)}
    assert read == dict.fromkeys(FIELDS) | dict(attributes)
    assert sighting.component is not None
    assert (sighting.component.type, sighting.component.pci) == (ComponentType.GPU, pci)


@pytest.mark.parametrize(
    ("record", "severity"),
    [
        ("NVRM: Xid (PCI:0000:4b:00): 79, x", Severity.CRITICAL),
        ("NVRM: Xid (PCI:0000:4b:00): 999, x", Severity.ERROR),
        ("NVRM: Xid (PCI:0000:4b:00): 145, RLW_REMAP Nonfatal XC1 i0 Link 10 (0x0)", Severity.WARNING),
        ("NVRM: Xid (PCI:0000:4b:00): 145, RLW_REMAP Fatal XC1 i0 Link 10 (0x0)", Severity.CRITICAL),
        ("NVRM: Xid (PCI:0000:4b:00): 145", Severity.CRITICAL),
        ("NVRM: Xid (PCI:0000:4b:00): 154, GPU recovery action changed from 0x4 (Drain and Reset) to 0x0 (None)", Severity.INFO),
    ],
)  # fmt: skip
def test_severity_is_the_catalogues_unless_the_driver_says_it_of_this_event(record: str, severity: Severity) -> None:
    assert only(record).severity is severity


@pytest.mark.parametrize(
    "record",
    [
        "",
        "Regular log content without Xid",
        "Test XID message",
        "NVRM: Xid (invalid): some error",
        "NVRM: Xid (PCI:0000:4b:00)",
        "NVRM: Xid (PCI:0000:4b:00): ",
        "NVRM: Xid (PCI:0000:4b:00): 1234567",
        "NVRM: GPU at PCI:0000:64:00: GPU-443a7045-e1b1-f29a-92e0-3790b119fd20",
        "Jan 21 11:18:36 host-7 mallory: NVRM: Xid (PCI:0000:4b:00): 79, made up with logger(1)",
        "2024-01-21T11:18:36+00:00 host-7 sshd[12]: NVRM: Xid (PCI:0000:4b:00): 79, made up",
    ],
)
def test_no_xid(record: str) -> None:
    assert parse_sightings(parse_record(record)) == []


def test_one_record_may_hold_several() -> None:
    text = "NVRM: Xid (PCI:0000:4b:00): 48, DBE\nNVRM: Xid (PCI:0000:4b:00): 63, remapped"
    assert [sighting.attributes["xid"] for sighting in parse_xid(text)] == [48, 63]


def test_what_stays_until_a_reset_says_so() -> None:
    assert only("NVRM: Xid (PCI:0000:4b:00): 79, x").persistence is Persistence.PERMANENT
    assert only("NVRM: Xid (PCI:0000:4b:00): 13, x").persistence is Persistence.UNKNOWN


PIECES = st.sampled_from(
    ["NVRM: Xid (", "PCI:", "0000:4b:00", ".0", " GPU-I:05", ")", "): ", "79", ", pid=", "'", ", name=", "\n", "#012", "Link -1",
     "RLW_REMAP Fatal XC1 i0 ", "recovery action changed from 0x0 to 0x", "fallen off the bus", "6,1,2,-;", "\\x0a", "\x00"]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=8), max_size=40))
def test_no_text_makes_a_parser_raise(pieces: list[str]) -> None:
    for sighting in parse_sightings(parse_record("".join(pieces))):
        xid = sighting.attributes.get("xid", 0)
        assert isinstance(xid, int)


@given(st.binary(max_size=300))
def test_no_bytes_make_a_parser_raise(raw: bytes) -> None:
    parse_sightings(parse_record("NVRM: Xid (PCI:0000:4b:00): 13, " + raw.decode("utf-8", "replace")))


def test_a_hostile_megabyte_takes_no_longer_than_a_kilobyte_allows() -> None:
    started = time.perf_counter()
    for piece in ("NVRM: Xid (", ", name='", ", pid=", "recovery action changed from 0x0 ", "[ 1.1] ", "A/"):
        parse_sightings(parse_record("NVRM: Xid (PCI:0000:4b:00): 145, " + piece * (1024 * 1024 // len(piece))))
    assert time.perf_counter() - started < 2.0

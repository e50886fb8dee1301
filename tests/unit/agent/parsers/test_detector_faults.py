"""What public detectors got wrong in the kernel's log, and what is right here. NOT_COVERED.md lists the rest."""

# ruff: noqa: E501 - a line of a log is not wrapped

import pytest

from agent.coalesce import burst_key
from agent.kernel_log.record import parse_record
from agent.parsers.registry import parse_sightings
from agent.parsers.sighting import Sighting
from policies.contract.vocabulary import Kind, Severity


def only(record: str) -> Sighting:
    (sighting,) = parse_sightings(parse_record(record))
    return sighting


def test_an_xid_of_a_mig_instance_is_not_missed() -> None:
    sighting = only(
        "NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=7194, Contained: CE User Channel (0x9). RST: No, D-RST: No"
    )
    assert sighting.component is not None
    assert sighting.component.pci == "0000:01:00"
    said = sighting.attributes
    assert (said["xid"], said["gpu_instance"], said["pid"]) == (94, 5, 7194)


def test_text_behind_the_code_never_decides_the_code() -> None:
    assert only("NVRM: Xid (PCI:0000:01:00): 45, pid=7194, name=a,b): 79, evil, Ch 00000008").attributes["xid"] == 45


def test_a_gpu_that_is_lost_without_an_xid_is_seen_and_is_the_same_occurrence_as_its_xid() -> None:
    lost = only(
        "[ 1843.308145] NVRM: The NVIDIA GPU 0000:b3:00.0\n               NVRM: (PCI ID: 10de:26b5) installed in this system has\n"
        "               NVRM: fallen off the bus and is not responding to commands."
    )
    xid = only("NVRM: Xid (PCI:0000:b3:00): 79, GPU has fallen off the bus.")
    assert lost.kind is Kind.GPU_LOST
    assert lost.attributes["occurrence"] == xid.attributes["occurrence"] == "bus:0000:b3:00"


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ("NVRM: Xid (PCI:0000:9e:00): 160, Marking LTS 3 in FPB 2 for retirement", 160),
        (
            "NVRM: Xid (PCI:0000:9e:00): 63, pid=1, name=python, Row Remapper: New row (0x00000000001a2b3c) marked for remapping",
            63,
        ),
    ],
)
def test_a_code_is_read_whatever_wording_follows_it(record: str, code: int) -> None:
    assert only(record).attributes["xid"] == code


def test_a_nonfatal_link_error_is_not_fatal() -> None:
    sighting = only(
        "NVRM: Xid (PCI:0018:01:00): 145, RLW_RXPIPE Nonfatal XC0 i0 Link 13 (0x0409a0c2 0x00000008 0x00000001 0x00000000 0x00100000 0x00000004)"
    )
    assert (sighting.severity, sighting.attributes["fatal"]) == (Severity.WARNING, False)


def test_a_cut_line_is_read_as_far_as_it_goes() -> None:
    sighting = only(
        "NVRM: Xid (PCI:0000:c5:00): 145, RLW_SRC_TRACK Nonfatal XC1 i0 Link 17 (0x04084507 0x00000004 0x00000000 0x00000000 0x00000000 0x00000000"
    )
    assert (sighting.severity, sighting.attributes["error_status"]) == (Severity.WARNING, "0x00000004")


def test_brackets_in_the_wrong_order_break_nothing() -> None:
    assert (
        only("NVRM: Xid (PCI:0000:01:00): 154, GPU recovery action changed from 0x0 )None( to 0x1").attributes["xid"]
        == 154
    )


def test_one_link_fault_does_not_make_every_gpu_of_the_job_faulty() -> None:
    sighting = only(
        "kernel: NVRM: Xid (PCI:0000:dc:00): 45, pid=1818990, name=python3, Ch 00000001 caused by previous Xid 149"
    )
    assert (sighting.attributes["symptom"], sighting.attributes["caused_by"]) == (True, 149)
    assert sighting.severity is Severity.WARNING


def test_two_equal_xids_in_a_row_are_one_burst_that_counts_both() -> None:
    record = "NVRM: Xid (PCI:0000:dc:00): 31, pid=1, name=python3, Ch 00000001"
    assert burst_key(only(record)) == burst_key(only(record))


def test_a_fabric_manager_that_has_nothing_to_do_is_no_error() -> None:
    sighting = only(
        "nv-fabricmanager[1929729]: request to query NVSwitch device information from NVSwitch driver failed with error:WARNING Nothing to do [NV_WARN_NOTHING_TO_DO]"
    )
    assert (sighting.severity, sighting.attributes["status"]) == (Severity.WARNING, "NV_WARN_NOTHING_TO_DO")

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.kernel_log.record import is_from_kernel, parse_record

TEXT = "NVRM: something: happened"


@pytest.mark.parametrize(
    ("raw", "uptime"),
    [
        ("6,3973,227996636,-;" + TEXT, 227996636),
        ("<6>[ 7123.021707] " + TEXT, 7123021707),
        ("[    1.5] " + TEXT, 1500000),
        ("[Sun Feb 23 16:24:18 2025] " + TEXT, None),
        ("kern  :warn  : 2025-01-21T04:41:44,283302+00:00 " + TEXT, None),
        ("Jan 21 11:18:36 host-7 kernel: [ 8609.389400] " + TEXT, 8609389400),
        ("2019-08-19T04:18:38.274664-04:00 host kernel: " + TEXT, None),
        ("kernel: [ 12.000001] " + TEXT, 12000001),
        ("[  +0.000004] " + TEXT, None),
        ("[...] " + TEXT, None),
        (TEXT, None),
    ],
)
def test_the_text_is_what_stands_behind_the_prefixes(raw: str, uptime: int | None) -> None:
    record = parse_record(raw)
    assert (record.text, record.uptime) == (TEXT, uptime)
    assert is_from_kernel(record)


def test_the_device_s_numbers_escapes_and_properties() -> None:
    record = parse_record(
        "30,42,7,-,caller=T1;one\\x0atwo \\xc3\\xa4 \\x5c\n SUBSYSTEM=pci\n DEVICE=+pci:0000:4b:00.0\n"
    )
    assert (record.text, record.seq, record.facility) == ("one\ntwo ä \\", 42, 3)


def test_calendar_times_are_read_where_they_are_complete() -> None:
    record = parse_record("2019-08-19T04:18:38.274664-04:00 host kernel: x")
    assert record.at == datetime(2019, 8, 19, 8, 18, 38, 274664, tzinfo=UTC)
    assert parse_record("Jan 21 11:18:36 host kernel: x").at is None


def test_what_another_program_logged_is_not_the_kernel_s() -> None:
    record = parse_record("Jan 21 11:18:36 host-7 mallory[77]: NVRM: Xid (PCI:0000:4b:00): 79, made up")
    assert record.tag == "mallory"
    assert not is_from_kernel(record)


def test_a_kernel_s_subsystem_is_not_taken_for_a_program() -> None:
    record = parse_record("kern  :warn  : 2025-01-21T04:42:44,285060+00:00 pt_main_thread[2536443]: segfault at 7f")
    assert record.text.startswith("pt_main_thread[2536443]: segfault")
    assert is_from_kernel(record)


def test_line_breaks_of_rsyslog_come_back() -> None:
    assert parse_record("Jan 21 11:18:36 host kernel: a#012b").text == "a\nb"


@given(st.text())
def test_no_text_makes_it_raise(raw: str) -> None:
    assert isinstance(parse_record(raw).text, str)


@pytest.mark.parametrize(
    "raw",
    [
        "30,12,7,-;systemd[1]: x",
        "daemon:info  : [    7.100000] systemd[1]: x",
        "user  :notice: [    7.100000] x",
        "<30>[    7.100000] systemd[1]: x",
    ],
)
def test_what_was_written_into_the_kernel_s_log_from_outside_says_so(raw: str) -> None:
    assert parse_record(raw).facility != 0


def test_a_time_of_another_form_names_the_program_too() -> None:
    record = parse_record("<13>1 2025-01-21T11:18:36.123456Z gpu-7 myapp 77 - - NVRM: Xid (PCI:0000:4b:00): 79")
    assert (record.tag, record.text) == ("myapp", "NVRM: Xid (PCI:0000:4b:00): 79")
    assert not is_from_kernel(record)
    assert record.at == datetime(2025, 1, 21, 11, 18, 36, 123456, tzinfo=UTC)

"""Messages in pieces come back together, and no record is lost, repeated or overtaken."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.follow.reader import FixedPlace, LogGap, LogRecord
from agent.kernel_log.joiner import Item, Joiner
from agent.kernel_log.record import KernelRecord

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
LOST = (
    "NVRM: The NVIDIA GPU 0000:b3:00.0",
    "NVRM: (PCI ID: 10de:26b5) installed in this system has",
    "NVRM: fallen off the bus and is not responding to commands.",
)
KILL = (
    "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,task=python,pid=36,uid=0",
    "Out of memory: Killed process 36 (python) total-vm:1kB",
)
MISMATCH = (
    "NVRM: API mismatch: the client 'nvidia-smi' (pid 1234)",
    "NVRM: has the version 580.95.05, but this kernel module has",
    "NVRM: the version 580.82.07.  Please make sure",
)


def records(*texts: str, apart: int = 10) -> list[Item]:
    return [
        LogRecord(KernelRecord(text, seq, seq * apart), str(seq), NOW, FixedPlace({"seq": seq}))
        for seq, text in enumerate(texts)
    ]


def texts(items: list[Item]) -> list[str]:
    return [item.record.text for item in items if isinstance(item, LogRecord)]


@pytest.mark.parametrize("message", [LOST, KILL])
def test_the_pieces_of_a_message_become_its_first_record(message: tuple[str, ...]) -> None:
    told = Joiner().take(records(*message))
    assert texts(told) == ["\n".join(message), *[""] * (len(message) - 1)]
    assert [item.position["seq"] for item in told] == list(range(len(message)))


def test_a_mismatch_is_whole_when_nothing_more_comes() -> None:
    joiner = Joiner()
    assert joiner.take(records(*MISMATCH)) == []
    assert texts(joiner.take([])) == ["\n".join(MISMATCH), "", ""]


def test_lines_of_others_in_between_keep_their_place() -> None:
    told = Joiner().take(records(LOST[0], "eth0: Link down", LOST[1], LOST[2], "later"))
    assert texts(told) == ["\n".join(LOST), "eth0: Link down", "", "", "later"]


def test_a_message_in_one_record_is_not_held() -> None:
    assert texts(Joiner().take(records("\n".join(LOST)))) == ["\n".join(LOST)]


def test_the_kill_of_another_process_is_another_kill() -> None:
    other = "Out of memory: Killed process 37 (bash) total-vm:1kB"
    joiner = Joiner()
    told = joiner.take(records(KILL[0], other)) + joiner.take([])
    assert texts(told) == [KILL[0], other]


def test_an_opening_alone_goes_on_when_the_log_falls_silent() -> None:
    joiner = Joiner()
    assert joiner.take(records(LOST[0])) == []
    assert texts(joiner.take([])) == [LOST[0]]


def test_what_is_held_is_bounded_in_number_and_in_time() -> None:
    assert len(Joiner().take(records(LOST[0], *["x"] * 7))) == 8
    assert len(Joiner().take(records(LOST[0], "x", apart=1_000_000))) == 2
    assert len(Joiner().take(list(reversed(records("x", LOST[0]))))) == 2  # the log's time went back


def test_a_second_opening_lets_the_first_go() -> None:
    told = Joiner().take(records(LOST[0], *LOST))
    assert texts(told) == [LOST[0], "\n".join(LOST), "", ""]


def test_a_gap_ends_what_is_held() -> None:
    gap = LogGap("overrun", "1-2", NOW, FixedPlace({"seq": 2}))
    joiner = Joiner()
    first = records(LOST[0])
    assert joiner.take([*first, gap]) == [*first, gap]
    assert texts(joiner.take(records(LOST[2]))) == [LOST[2]]


PIECES = st.sampled_from([*LOST, *KILL, *MISMATCH, "x", "Killed process 36 (python)"])


@given(st.lists(st.lists(PIECES, max_size=6), max_size=8), st.sampled_from([1, 10, 400_000, 2_000_000]))
def test_every_record_goes_on_once_and_in_its_order(batches: list[list[str]], apart: int) -> None:
    everything = records(*[text for batch in batches for text in batch], apart=apart)
    joiner, told, at = Joiner(), [], 0
    for batch in batches:
        told += joiner.take(everything[at : at + len(batch)])
        at += len(batch)
    told += joiner.take([])
    assert [item.position for item in told] == [item.position for item in everything]
    said = sorted(line for text in texts(told) for line in text.split("\n") if line)
    assert said == sorted(text for batch in batches for text in batch)

"""The work grows at most linearly with what is read, whatever it is.

Shown in two ways, neither of them by the clock. Of each pattern: it can only match so many characters, so from each
place in the text the engine looks at a bounded piece, and the places are the text's length. Of the code around: the
calls it makes are counted.
"""

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from re import _constants, _parser  # type: ignore[attr-defined]  # the engine's own view of a pattern
from types import FrameType, ModuleType

import pytest

import agent.kernel_log
import agent.parsers
import agent.training_logs
from agent.kernel_log.record import parse_record
from agent.parsers.rank_log import LossWatch
from agent.parsers.registry import parse_sightings
from agent.parsers.training import parse_training_line

WIDEST = 4_400  # characters: a cgroup's path in the line of an OOM kill has up to 4,000
KIB = 1024
READS_NAMES = {"agent.training_logs.selection"}  # of files, which have at most 255 characters


def modules() -> Iterator[ModuleType]:
    for package in (agent.parsers, agent.kernel_log, agent.training_logs):
        names = (f"{package.__name__}.{found.name}" for found in pkgutil.iter_modules(package.__path__))
        yield from (importlib.import_module(name) for name in names if name not in READS_NAMES)


def patterns() -> dict[str, re.Pattern[str]]:
    """Return every pattern that a module holds by itself or in a table."""
    found: dict[str, re.Pattern[str]] = {}
    for module in modules():
        for value in vars(module).values():
            for one in value if isinstance(value, tuple) else (value,):
                for pattern in (one, getattr(one, "pattern", None), getattr(one, "same", None)):
                    if isinstance(pattern, re.Pattern) and isinstance(pattern.pattern, str):
                        found[pattern.pattern] = pattern
    return found


def test_every_pattern_looks_at_a_bounded_piece_from_each_place() -> None:
    everything = patterns()
    assert len(everything) > 100
    widths = {text: _parser.parse(text, one.flags).getwidth()[1] for text, one in everything.items()}
    assert {text: width for text, width in widths.items() if width > WIDEST} == {}


def repeats(tree: object) -> Iterator[int]:
    """Yield how often each part of a pattern may repeat."""
    assert isinstance(tree, _parser.SubPattern)
    for operation, argument in tree:
        if operation in {_constants.MAX_REPEAT, _constants.MIN_REPEAT}:
            yield argument[1]
        for part in argument if isinstance(argument, (tuple, list)) else (argument,):
            for inner in part if isinstance(part, list) else (part,):
                if isinstance(inner, _parser.SubPattern):
                    yield from repeats(inner)


def test_no_pattern_repeats_without_end() -> None:
    unbounded = [
        text
        for text, one in patterns().items()
        if any(most == _constants.MAXREPEAT for most in repeats(_parser.parse(text, one.flags)))
    ]
    assert unbounded == []


HOSTILE = (
    *("a", " ", "\n", "[", "[ 1.1] ", "\\x0a", "#012", "<4>", "kernel: ", "0", "aaaa: ", "Jan 21 11:18:36 h kernel: "),
    *(
        "NVRM: Xid (",
        "NVRM: Xid (PCI:0000:4b:00): 79, pid=",
        ", name='",
        "recovery action changed from 0x0 ",
        "Link 1 ",
    ),
    *("SXid (PCI:0000:00:00.0): 1, ", "detected NVSwitch fatal error ", "[ERROR] failed to ", "AER: Uncorrected "),
    *("NVRM: API mismatch: the client has ", "EDAC MC0: 1 UE ", "mlx5_core 0000:00:00.0 ", "nvme nvme0: I/O 1 "),
    *(
        "oom-kill:constraint=,task=",
        "Killed process 1 (",
        "INFO: task a:1 blocked ",
        "segfault at 0 ip ",
        "traps: a[1] ",
    ),
    *("Lustre: Connection to ", "LustreError: operation ", "nfs: server ", "XFS (a): ", "[rank0]: ", "CUDA error: "),
    *("Assertion `", "No such file or directory: '", "loss: ", "store->get", "NCCL WARN ", "NET/OFI ", "oops: 0 [#"),
)


def calls(text: str) -> int:
    """Return how many calls, of Python or of C, all readers make for *text*."""
    counted = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal counted
        counted += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        parse_sightings(parse_record(text))
        parse_training_line(text)
        LossWatch().take(text)
    finally:
        sys.setprofile(before)
    return counted


@pytest.mark.parametrize("piece", HOSTILE)
def test_sixteen_times_as_much_text_takes_at_most_sixteen_times_the_calls(piece: str) -> None:
    short, long = (calls((piece * (size // len(piece) + 1))[:size]) for size in (4 * KIB, 64 * KIB))
    assert long <= 16 * short

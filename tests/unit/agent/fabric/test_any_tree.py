"""Whatever lies in /sys, a poll says what it could not read, or that there is nothing; it never fails otherwise."""

import os
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.fabric.efa.poll import EfaPresence, EfaTraffic
from agent.fabric.infiniband.poll import InfinibandPorts
from agent.polls.reading import NotHereError, Poll
from tests.tools.agent_events import memory_folder
from tests.tools.polling import Bench, bench

NAMES = st.sampled_from(["mlx5_0", "rdmap79s0", "x", "..y", "\u00e9", "\udcff", "a b", "0000:4f:00.0"])
TEXTS = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(
        [
            b"4: ACTIVE",
            b"1: DOWN",
            b"2: Polling",
            b"400 Gb/sec (4X NDR)",
            b"0x1d0f",
            b"-1",
            b"9" * 400,
            b"N",
            b"",
            b"\xff",
        ]
    ),
)
LEAVES = st.sampled_from(
    [
        *("device/vendor", "device/device", "device/uevent", "device/driver", "device", "hca_type", "ports", "ports/1"),
        *("ports/1/state", "ports/1/phys_state", "ports/1/rate", "ports/1/link_layer", "ports/1/hw_counters"),
        *("ports/1/counters/symbol_error", "ports/1/hw_counters/tx_pkts", "ports/1/hw_counters/retrans_pkts"),
        *("ports/7/state", "ports/x/state", "ports/\u00b2/state"),
    ]
)
KINDS = st.sampled_from(["file", "file", "file", "folder", "pipe", "loop", "nowhere", "secret"])


def put(path: Path, kind: str, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind in ("loop", "nowhere"):
            path.symlink_to(path.name if kind == "loop" else "../../0000:4f:00.0")
        elif not path.is_fifo():
            path.write_bytes(content)
            path.chmod(0 if kind == "secret" else 0o644)
    except OSError:
        return  # a file lies where a folder should be, or the other way round


def look(work: Bench, poll: Poll, second: int) -> None:
    try:
        work.poll(poll, second)
    except (NotHereError, OSError):
        return


@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.tuples(NAMES, LEAVES, KINDS, TEXTS), max_size=25), st.lists(st.tuples(NAMES, LEAVES, TEXTS), max_size=8)
)
def test_no_tree_makes_a_poll_fail_in_a_way_that_is_not_foreseen(
    tree: list[tuple[str, str, str, bytes]], changes: list[tuple[str, str, bytes]]
) -> None:
    with memory_folder() as folder:
        sysfs = Path(folder)
        devices = sysfs / "class/infiniband"
        for name, leaf, kind, content in tree:
            put(devices / name / leaf, kind, content)
        polls: list[Poll] = [EfaPresence(sysfs), EfaTraffic(sysfs), InfinibandPorts(sysfs, expected=1)]
        for poll in polls:
            with bench() as work:
                look(work, poll, 0)
                for name, leaf, content in changes:
                    put(devices / name / leaf, "file", content)
                for second in (20, 100):
                    look(work, poll, second)

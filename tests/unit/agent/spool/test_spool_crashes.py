"""Killed or without power at any byte: no seq that somebody saw is given again, nothing acknowledged is missing."""

import json
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agent.spool.limits import SpoolLimits
from agent.spool.opening import JOURNAL_NAME, open_spool
from agent.spool.spool import Spool
from agent.spool.state import Progress
from tests.tools.agent_events import ManualClock, describe_loss, make_event, memory_folder, new_ids

STEPS = st.lists(st.sampled_from(["append", "append two", "cursor", "send", "acknowledge", "refuse"]), max_size=25)


@dataclass
class Life:
    """What one process did: the file after each step, and what it showed to others by then."""

    sizes: list[int] = field(default_factory=list)
    sent: list[dict[int, str]] = field(default_factory=list)  # seq -> name, made durable and handed to a lane
    states: list[tuple[list[str], int]] = field(default_factory=list)  # names that wait, cursor


def waiting(spool: Spool) -> list[str]:
    batch = spool.take(1 << 30)
    if batch is None:
        return []
    spool.release(batch)
    return [json.loads(event.body)["attributes"]["name"] for event in batch.events]


def open_in(folder: Path) -> AbstractContextManager[Spool]:
    limits = SpoolLimits()
    clock = ManualClock()
    return open_spool(
        folder, owner="i-1", boot_id="b", limits=limits, clock=clock, new_id=new_ids(), describe_loss=describe_loss
    )


def live(folder: Path, steps: list[str]) -> Life:
    life = Life()
    with open_in(folder) as spool:
        act(spool, folder, steps, life)
    return life


def act(spool: Spool, folder: Path, steps: list[str], life: Life) -> None:
    sent: dict[int, str] = {}
    cursor = 0
    made = 0

    def note() -> None:
        life.sizes.append((folder / JOURNAL_NAME).stat().st_size)
        life.sent.append(dict(sent))
        life.states.append((waiting(spool), cursor))

    note()
    for step in steps:
        if step.startswith("append"):
            events = [make_event(made + extra) for extra in range(2 if step == "append two" else 1)]
            made += len(events)
            cursor += 1
            spool.append(events, Progress("kernel_log", cursor))
        elif step == "cursor":
            cursor += 1
            spool.append([], Progress("kernel_log", cursor))
        elif batch := spool.take(900):
            spool.sync()
            sent |= {event.seq: json.loads(event.body)["attributes"]["name"] for event in batch.events}
            if step == "acknowledge":
                spool.acknowledge(batch)
            else:
                spool.release(batch)
        note()


@given(STEPS, st.data())
def test_a_crash_at_any_byte(steps: list[str], data: st.DataObject) -> None:
    with memory_folder() as name:
        folder = Path(name)
        life = live(folder, steps)
        path = folder / JOURNAL_NAME
        whole = path.read_bytes()
        cut = data.draw(st.integers(life.sizes[0], len(whole)))
        path.write_bytes(whole[:cut])
        # The last step that was wholly written before the crash, and what had been shown to others by then.
        survived = max(index for index, size in enumerate(life.sizes) if size <= cut)
        names, cursor = life.states[survived]
        with open_in(folder) as spool:
            stored = spool.progress("kernel_log")
            assert waiting(spool) == names
            assert (stored.cursor if stored else 0) == cursor
            spool.append([make_event("after")])
            batch = spool.take(1 << 30)
        assert batch is not None
        again = {event.seq: json.loads(event.body)["attributes"]["name"] for event in batch.events}
        for seq, event_name in life.sent[survived].items():
            assert again.get(seq, event_name) == event_name


@given(STEPS)
def test_a_crash_while_the_file_is_rewritten_leaves_the_old_or_the_new_one(steps: list[str]) -> None:
    with memory_folder() as name:
        folder = Path(name)
        life = live(folder, steps)
        (folder / JOURNAL_NAME).with_suffix(".new").write_bytes(b"0000 half a fi")
        with open_in(folder) as spool:
            assert waiting(spool) == life.states[-1][0]

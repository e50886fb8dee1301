from typing import Any

from agent.host.memory.frame import Frame, Process
from agent.host.memory.poll import LeakPoll
from tests.tools.polling import LATE, Bench, bench

GIB = 1 << 30


class Leak:
    """A node whose one large process grows by 30 GiB an hour until it is gone."""

    def __init__(self, until: float = 1e9) -> None:
        self.second, self.until = 0.0, until

    def frame(self) -> Frame:
        own = int((100 + self.second / 120) * GIB)
        if self.second >= self.until:
            return Frame(160 * GIB, 130 * GIB, (), {})
        return Frame(160 * GIB, 130 * GIB - own, (Process(7, "python", 1.0, own, ""),), {})

    def watch(self, work: Bench, poll: LeakPoll, turns: int) -> list[dict[str, Any]]:
        told = []
        for _ in range(turns):
            told += work.poll(poll, self.second, uptime=LATE)
            self.second += 30
        return told


def test_an_agent_that_begins_anew_neither_ends_nor_repeats_a_leak_that_goes_on() -> None:
    leak = Leak()
    with bench() as work:
        told = leak.watch(work, LeakPoll(leak.frame), 45)
        work.restart()
        told += leak.watch(work, LeakPoll(leak.frame), 60)
    assert {event["kind"] for event in told} == {"host.memory_leak"}
    assert [event for event in told if "ongoing" not in event["attributes"]] == told[:1]


def test_a_leak_whose_process_is_gone_is_over() -> None:
    leak = Leak(until=2400)
    with bench() as work:
        told = leak.watch(work, LeakPoll(leak.frame), 120)
    assert told[0]["kind"] == "host.memory_leak"
    assert [event["attributes"]["of"] for event in told if event["kind"] == "condition.cleared"] == ["host.memory_leak"]

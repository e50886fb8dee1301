"""SIGTERM: what can still be delivered is, and the exit status is 0 either way."""

import signal
from collections.abc import Callable

import pytest

from tests.integration.agent.world import World


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_delivers_what_it_counted_and_exits_0(
    world: World, eventually: Callable[[Callable[[], bool]], None], number: signal.Signals
) -> None:
    world.make_stream()
    agent = world.start_agent()
    text = "NVRM: Xid (PCI:0000:4b:00): 31, pid=1, name=python"
    with world.log.open("a") as file:
        file.write("".join(f"3,{line},{line},-;{text}\n" for line in range(100)))
    eventually(lambda: len(world.seen()) == 1)
    agent.send_signal(number)
    assert agent.wait(90) == 0
    counts = [event.count for envelope in world.in_kinesis() for event in envelope.events]
    assert counts == [1, 99]
    said = [str(line["message"]) for line in world.said() if line["logger"] == "agent"]
    # Who is not root is told what is off.
    assert [text for text in said if not text.startswith("not root: ")] == ["agent starts", "agent stops"]
    assert world.said()[-1]["waiting"] == 0


def test_it_exits_0_in_time_when_nobody_takes_anything_and_keeps_it_for_the_next_start(
    world: World, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    agent = world.start_agent(OVERFLOW_QUEUE_URL="", STOP_SECONDS=0.5)
    world.break_gpus(3)
    journal = world.folder / "spool" / "spool.journal"
    eventually(lambda: journal.exists() and journal.read_bytes().count(b'"gpu.xid"') == 3)
    agent.send_signal(signal.SIGTERM)
    assert agent.wait(90) == 0
    assert world.said()[-1]["waiting"] == 3
    world.make_stream()
    world.start_agent()
    eventually(lambda: len(world.seen()) == 3)


def test_it_fails_with_a_reason_when_it_cannot_begin(world: World) -> None:
    agent = world.start_agent(STREAM="")
    assert agent.wait(90) == 1
    (line,) = world.said()
    assert line["level"] == "critical"
    assert "stream" in str(line["message"])
    assert "RELIGHT_AGENT_" in str(line["hint"])

"""The stream is not there: severe faults overtake through SQS, the others wait, and none is lost when it comes back."""

from collections.abc import Callable

from policies.contract.envelope import Envelope
from tests.integration.agent.world import World


def test_the_queue_takes_over_and_kinesis_gets_the_rest(
    world: World, eventually: Callable[[Callable[[], bool]], None]
) -> None:
    world.start_agent(OVERFLOW_AFTER_SECONDS=0.2)
    world.break_gpus(1, xid=43)  # info
    world.break_gpus(2, xid=79)  # critical
    overtook: list[Envelope] = []

    def overtaken() -> bool:
        overtook.extend(world.from_queue())
        return {event.seq for envelope in overtook for event in envelope.events} >= {1, 2}

    eventually(overtaken)
    assert {event.seq for envelope in overtook for event in envelope.events} == {1, 2}
    world.make_stream()
    eventually(lambda: len(world.seen()) > 0)
    assert list(world.seen()) == [0]

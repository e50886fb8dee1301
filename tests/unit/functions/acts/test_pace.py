"""One place scales waits: the machine that waits. Executors tell policy seconds, whatever the scale."""

from hypothesis import given
from hypothesis import strategies as st

from functions.acts.act import Act, ActContext
from functions.acts.support import Pace
from policies.contract.decisions import RungReport
from policies.contract.rungs import RungStatus
from tests.tools.act_contexts import Clock, Drive


class Waits(Act):
    def __init__(self, pace: Pace) -> None:
        self._pace = pace

    def advance(self, context: ActContext) -> RungReport:
        return self._pace.wait(context, "the pods are there")


@given(scale=st.floats(0.01, 2), polls=st.integers(0, 400))
def test_a_look_waits_as_long_at_every_scale(scale: float, polls: int) -> None:
    assert Pace(scale).seconds(polls) == Pace().seconds(polls)
    assert 2 <= Pace(scale).seconds(polls) <= 30


def test_looks_grow_rarer_and_end_at_the_deadline() -> None:
    clock = Clock()
    drive = Drive(Waits(Pace(0.05)), clock, node="i-1")
    waits = [drive().wait_seconds for _ in range(9)]
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (2.0, 30.0)
    clock.move(10 * 3600)
    assert drive().status is RungStatus.FAILED

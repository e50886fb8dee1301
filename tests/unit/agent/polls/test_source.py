import threading
from collections.abc import Sequence

from agent.events import EventMaker
from agent.parsers.sighting import NODE, Sighting
from agent.polls.reading import Holds, Instant, Memory, NotHereError, Reading
from agent.polls.source import BOOT_LOOK_SECONDS, Pace, PollSource, since_boot
from agent.vitals import Vitals
from policies.contract.vocabulary import Kind, Severity, Source
from tests.tools.agent_events import ManualClock
from tests.tools.polling import Bench, bench
from tests.tools.sources import NODE as WHO
from tests.tools.sources import eventually


class _Poll:
    def __init__(self, *answers: Sequence[Reading] | Exception) -> None:
        self.answers = list(answers)
        self.asked = 0

    def measure(self, memory: Memory, now: Instant) -> Sequence[Reading]:
        self.asked += 1
        answer = self.answers.pop(0) if self.answers else []
        if isinstance(answer, Exception):
            raise answer
        return answer


def _source(work: Bench, poll: _Poll, vitals: Vitals) -> PollSource:
    maker = EventMaker(WHO, Source.HOST, lambda _seen: None)
    pace = Pace(every=0.001, look_again=0.001)
    return PollSource("host", poll, work.spool, maker, pace=pace, vitals=vitals, clock=ManualClock())


def test_it_measures_again_and_again_until_told_to_stop() -> None:
    full = Holds(Sighting(Kind.STORAGE_FULL, Severity.ERROR, NODE), "full")
    poll, vitals, stop = _Poll([full], [full]), Vitals(since_boot), threading.Event()
    with bench() as work:
        thread = threading.Thread(target=_source(work, poll, vitals).run, args=(stop,))
        thread.start()
        eventually(lambda: poll.asked > 5)
        stop.set()
        thread.join(60)
        assert [event["kind"] for event in work.new()] == ["storage.full"]
    (vital,) = vitals.all()
    assert (vital.state, vital.due) == ("running", None)


def test_where_there_is_nothing_to_measure_that_is_said_once_and_looked_for_again() -> None:
    poll, vitals, stop = _Poll(*[NotHereError("no EFA device here")] * 3), Vitals(since_boot), threading.Event()
    with bench() as work:
        thread = threading.Thread(target=_source(work, poll, vitals).run, args=(stop,))
        thread.start()
        eventually(lambda: poll.asked > 5)
        stop.set()
        thread.join(60)
        assert work.new() == []
    assert vitals.all()[0].state == "running"


def test_a_call_that_does_not_come_back_is_seen_from_outside() -> None:
    ticks = [0.0]
    vitals = Vitals(lambda: ticks[0])
    with vitals.measuring("infiniband", deadline=10):
        ticks[0] = 9
        assert vitals.overdue() == []
        ticks[0] = 11
        assert [one.name for one in vitals.overdue()] == ["infiniband"]
    assert vitals.overdue() == []


def test_while_the_node_boots_what_is_not_here_yet_is_looked_for_soon() -> None:
    pace = Pace(every=1, boot_grace=300)
    assert [pace.look_again_at(ticks) for ticks in (0, 299, 300)] == [BOOT_LOOK_SECONDS, BOOT_LOOK_SECONDS, 600]

from pathlib import Path

from agent.publisher import LaneState
from agent.status.board import Board
from agent.status.pages import health
from agent.status.prometheus import metrics
from agent.status.report import STALLED_SECONDS, Loops, Reporter
from agent.status.show import lines, span
from agent.vitals import Vitals
from tests.tools.polling import bench
from tests.tools.sources import NODE


class Scene:
    """An agent whose clock is turned by hand."""

    def __init__(self) -> None:
        self.now = 100.0
        self.vitals = Vitals(lambda: self.now)
        self.board, self.loops = Board(), Loops(lambda: self.now)
        self.lanes = [
            LaneState("kinesis", 90.0, None, 0, ""),
            LaneState("overflow", None, 40.0, 7, "SQS answers Denied."),
        ]

    def report(self) -> dict[str, object]:
        with bench() as one:
            reporter = Reporter(
                "0.1.0", NODE, self.vitals, one.spool, lambda: self.lanes, self.board, self.loops,
                lambda: self.now, lambda: self.now, 10.0,
            )  # fmt: skip
            return reporter.report()

    def shown(self, driver: str) -> str:
        report = self.report()
        assert isinstance(report["node"], dict)
        return next(lines({**report, "node": {**report["node"], "driver_version": driver}}))

    def text(self) -> str:
        return "\n".join(lines(self.report()))


def test_a_call_that_does_not_come_back_is_shown_as_hung_and_first() -> None:
    scene = Scene()
    scene.vitals.running("a")
    scene.vitals.absent("b", "no EFA device here")
    with scene.vitals.measuring("nvml", 5):
        scene.now = 130.0
        text = scene.text().splitlines()
    first = text.index("sources:") + 1
    assert text[first] == "  HUNG  nvml                     a call does not come back for 30 s"
    assert "  -     b                        no EFA device here" in text


def test_what_fails_says_why_and_how_often() -> None:
    scene = Scene()
    for _ in range(3):
        scene.vitals.failing("edac", "OSError: denied")
    assert "FAIL  edac                     OSError: denied (3 failures)" in scene.text()


def test_a_lane_that_refuses_says_for_how_long_and_why() -> None:
    text = Scene().text()
    assert "overflow: REFUSES for 60 s, 7 tries, nothing put yet: SQS answers Denied." in text
    assert "kinesis: last put 10 s ago" in text


def test_a_loop_that_stands_still_is_no_health() -> None:
    scene = Scene()
    scene.loops.watch("publisher", lambda: 100.0)
    assert health(scene.loops)().status == 200
    scene.now += STALLED_SECONDS + 1
    assert health(scene.loops)().status == 503
    assert "publisher" in health(scene.loops)().body
    assert "publisher stands still" in scene.text()


def test_a_part_that_cannot_say_how_it_is_hides_no_other() -> None:
    scene = Scene()
    scene.board.tell("commands", lambda: 1 / 0)
    scene.board.tell("evidence", lambda: {"last": "c1", "failing": ""})
    report = scene.report()
    assert report["evidence"] == {"last": "c1", "failing": ""}
    assert "ZeroDivisionError" in str(report["commands"])
    assert "evidence: last c1" in scene.text()


def test_metrics_are_prometheus_text() -> None:
    scene = Scene()
    scene.vitals.running('journal:/a"b\\c')
    text = metrics(scene.report())
    assert 'relight_agent_source_state{source="journal:/a\\"b\\\\c",state="running"} 1\n' in text
    assert "relight_agent_spool_events_waiting 0\n" in text
    assert 'relight_agent_lane_refusing_seconds{lane="overflow"} 60.0\n' in text
    assert 'lane_last_put_seconds{lane="overflow"}' not in text
    told = [line for line in text.splitlines() if not line.startswith("#")]
    assert len({line.rpartition(" ")[0] for line in told}) == len(told)
    assert (
        text.count("# TYPE")
        == text.count("# HELP")
        == len({line.split()[2] for line in text.splitlines() if "TYPE" in line})
    )


def test_spans_are_read_at_a_glance() -> None:
    assert [span(seconds) for seconds in (5, 119, 120, 7200, 200_000)] == ["5 s", "119 s", "2 min", "2 h", "2 d"]


def test_the_example_of_a_socket_path_fits_into_a_socket_address() -> None:
    assert len(str(Path("/run/relight/agent.sock"))) < 100


def test_the_driver_is_shown_where_it_is_known() -> None:
    scene = Scene()
    assert scene.shown("570.148.08") == "n (i-1, type unknown, driver 570.148.08), cluster c"
    assert scene.shown("") == "n (i-1, type unknown), cluster c"
    older = scene.report()
    assert isinstance(older["node"], dict)
    assert older["node"].pop("driver_version") == ""
    assert next(lines(older)) == "n (i-1, type unknown), cluster c"

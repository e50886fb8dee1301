"""What befell a node is noted beside the effects: if that fails, the node's next finding makes up for it."""

from policies.coordination.snapshot import AnyChange, ConflictError, Keys
from policies.facts.history import History
from policies.facts.recent import Recent
from tests.tools.coordinate_bench import Bench, TroubledStore
from tests.tools.incidents import CLUSTER, at, finding, findings


class ForgetfulStore(TroubledStore):
    """Loses every race about the past while it is told to."""

    loses = True

    def write(self, change: AnyChange) -> None:
        if self.loses and isinstance(change.after, History | Recent):
            raise ConflictError("it changed meanwhile.")
        super().write(change)


def noted(store: ForgetfulStore) -> tuple[int, int]:
    found = store.read(CLUSTER, Keys(histories=frozenset({"i-1"}), recents=frozenset({""})))
    history, recent = found.histories["i-1"], found.recents[""]
    return len(history.past) if history else 0, len(recent.signs) if recent else 0


def test_a_lost_race_about_the_past_keeps_nothing_back_and_is_told() -> None:
    bench = Bench(store=(store := ForgetfulStore()))
    assert bench.take(findings(finding())) == []
    assert bench.executions.started
    assert noted(store) == (0, 0)
    assert [message for message, _ in bench.telemetry.remarks] == [
        "The past of a node was not written; the incident itself has it."
    ] * 2


def test_the_nodes_next_finding_makes_up_for_it() -> None:
    bench = Bench(store=(store := ForgetfulStore()))
    bench.take(findings(finding()))
    store.loses = False
    bench.now = at(40)
    bench.take(findings(finding(name="another", seen=at(40))))
    assert noted(store) == (1, 1)

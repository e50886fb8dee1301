import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime

import pytest

from functions.coordinate.coordinate import Coordinator
from functions.twins.dead_letters import MemoryDeadLetters
from functions.twins.executions import MemoryExecutions
from functions.twins.sizes import MemorySizes
from functions.twins.switches import MemorySwitches
from functions.twins.triage import MemoryTelemetry
from policies.contract.decisions import AnyMessage, CloseMessage, FindingsMessage, Limit, SweepMessage
from policies.contract.errors import BadInputError, DependencyError
from policies.coordination import decide
from policies.coordination.budgets import Budget
from policies.coordination.findings import take_findings
from policies.coordination.holds import Job
from policies.coordination.incident import Incident
from policies.coordination.leases import Lease
from policies.coordination.memory import MemoryStore
from policies.coordination.rules import Rules
from policies.coordination.snapshot import Change, ConflictError, Keys, Snapshot
from policies.coordination.states import IncidentStatus
from policies.coordination.working import Working
from tests.tools.incidents import CLUSTER, RULES, START, ask, at, finding, findings, plan
from tests.tools.records import sqs_record
from tests.tools.world import policies_in_force

Written = Change[Incident] | Change[Lease] | Change[Job] | Change[Budget]


class TroubledStore(MemoryStore):
    """Refuses what it is told to: ``poison`` is a node whose incident cannot be written, ``conflicts`` a count."""

    def __init__(self) -> None:
        super().__init__()
        self.poison = ""
        self.conflicts = 0
        self.unreadable: dict[str, Exception] = {}
        self.down = False
        self.lines_fail = False
        self.reads = 0

    def read(self, cluster: str, keys: Keys) -> Snapshot:
        self.reads += 1
        for node, error in self.unreadable.items():
            if any(lease.startswith(node) for lease in keys.leases):
                raise error
        if self.down:
            raise DependencyError("DynamoDB does not answer.")
        return super().read(cluster, keys)

    def write(self, change: Written) -> None:
        if isinstance(change.after, Incident) and change.after.node.instance_id == self.poison:
            raise DependencyError("the item is too large.")
        if self.conflicts:
            self.conflicts -= 1
            raise ConflictError("somebody was faster.")
        super().write(change)

    def write_lines(self, incident: Incident) -> None:
        if self.lines_fail:
            raise DependencyError("DynamoDB does not answer.")
        super().write_lines(incident)


class TroubledExecutions(MemoryExecutions):
    """Cannot start the incident in ``refused``, cannot answer at all while ``mute``."""

    refused = ""
    mute = False

    def start(self, cluster: str, incident: str, attempt: int) -> None:
        if incident == self.refused:
            raise DependencyError("Step Functions does not answer.")
        super().start(cluster, incident, attempt)

    def answer(self, token: str, answer: object) -> bool:
        if self.mute:
            raise DependencyError("Step Functions does not answer.")
        return super().answer(token, answer)  # type: ignore[arg-type]


@dataclass
class Bench:
    store: TroubledStore = field(default_factory=TroubledStore)
    executions: TroubledExecutions = field(default_factory=TroubledExecutions)
    now: datetime = START

    def __post_init__(self) -> None:
        self.pool = ThreadPoolExecutor(4)
        self.sizes, self.telemetry = MemorySizes(), MemoryTelemetry()
        self.policies, self.dead = policies_in_force(), MemoryDeadLetters()
        self.coordinator = Coordinator(
            store=self.store,
            executions=self.executions,
            sizes=self.sizes,
            switches=MemorySwitches(self.policies),
            dead_letters=self.dead,
            telemetry=self.telemetry,
            rules=RULES,
            clock=lambda: self.now,
            pool=self.pool,
        )

    def take(self, *bodies: AnyMessage | str) -> list[int]:
        """Take a batch; return the positions of what comes back."""
        texts = [body if isinstance(body, str) else body.to_json() for body in bodies]
        answer = self.coordinator.take([sqs_record(index, text) for index, text in enumerate(texts)])
        return [int(each["itemIdentifier"]) for each in answer["batchItemFailures"]]

    def refused(self) -> dict[str, str]:
        """Return position in the batch -> reason of what lies in the dead letters."""
        return {letter.id: letter.attributes["reason"] for letter in self.dead.letters}

    def incident(self, node: str = "i-1") -> Incident:
        return next(each for each in self.store.all_incidents() if each.node.instance_id == node)


def break_on(
    monkeypatch: pytest.MonkeyPatch, node: str, *, times: int = 1000, error: type[Exception] = ZeroDivisionError
) -> None:
    """Have the rules break on findings of *node*, *times* times."""
    left = iter(range(times))

    def broken(work: Working, message: FindingsMessage, rules: Rules, now: datetime) -> None:
        if message.findings[0].node.instance_id == node and next(left, None) is not None:
            raise error(f"nobody thought of {node}")
        take_findings(work, message, rules, now)

    monkeypatch.setattr(decide, "take_findings", broken)


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.pool.shutdown()


def test_a_finding_is_persisted_and_then_started(bench: Bench) -> None:
    assert bench.take(findings(finding())) == []
    assert list(bench.executions.started) == [bench.incident().execution]
    assert sorted(bench.store.lines[bench.incident().id]) == [1, 2, 3]


def test_what_is_no_message_is_put_aside_with_its_reason_and_the_rest_goes_on(bench: Bench) -> None:
    unknown = json.dumps({"type": "findings", "schema_version": 2, "cluster": CLUSTER, "findings": []})
    assert bench.take("{", findings(finding()), "[]", unknown, '{"type": "order"}') == []
    assert list(bench.refused()) == ["0", "2", "3", "4"]
    assert all(reason.startswith("not a message for coordinate: ") for reason in bench.refused().values())
    assert {(it.group, it.error, it.received) for it in bench.dead.letters} == {(CLUSTER, "BadInputError", 1)}
    assert bench.dead.letters[2].body == unknown
    assert bench.incident().status is IncidentStatus.SETTLING


def test_clusters_in_one_batch_do_not_meet(bench: Bench) -> None:
    assert bench.take(*(findings(finding(cluster=name)) for name in (CLUSTER, "sage", "lost"))) == []
    assert {each.cluster for each in bench.store.all_incidents()} == {CLUSTER, "sage"}
    assert bench.refused() == {"2": "cluster 'lost' is unknown. Add it to the settings and deploy."}


def test_between_good_ones_a_bad_one_is_put_aside_and_the_good_are_decided_in_order(bench: Bench) -> None:
    nobody = CloseMessage(cluster=CLUSTER, incident="none", by="ops", reason="over")
    joins = findings(finding("i-1", name="again"))
    assert bench.take(findings(finding("i-1")), nobody, joins) == []
    assert bench.refused() == {"1": f"there is no incident none in cluster {CLUSTER}. Check id and cluster."}
    (incident,) = bench.store.all_incidents()
    assert incident.knows(joins.findings[0].id)
    assert incident.policy.name == finding().policy.name


def test_a_rule_that_breaks_on_a_message_is_a_defect_and_says_where(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_on(monkeypatch, "i-2")
    assert bench.take(*(findings(finding(f"i-{number}")) for number in range(1, 4))) == []
    (letter,) = bench.dead.letters
    assert (letter.id, letter.error) == ("1", "ZeroDivisionError")
    assert letter.reason.startswith("nobody thought of i-2 (")
    assert f"{__file__}:" in letter.reason
    assert sorted(bench.executions.started) == sorted(bench.incident(node).execution for node in ("i-1", "i-3"))


def test_what_breaks_only_among_others_is_decided_alone_and_not_put_aside(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_on(monkeypatch, "i-2", times=1)
    assert bench.take(findings(finding("i-1")), findings(finding("i-2"))) == []
    assert bench.refused() == {}
    assert {each.node.instance_id for each in bench.store.all_incidents()} == {"i-1", "i-2"}


def test_a_dependency_that_fails_in_the_middle_of_a_rule_refuses_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_on(monkeypatch, "i-1", error=DependencyError)
    assert bench.take(findings(finding("i-1"))) == [0]
    assert bench.refused() == {}


def test_bad_input_is_put_aside_wherever_it_shows_and_an_unknown_failure_of_a_port_comes_back(bench: Bench) -> None:
    bench.store.unreadable = {"i-2": BadInputError("i-2 has no keys."), "i-3": RuntimeError("cannot start a thread")}
    assert bench.take(*(findings(finding(f"i-{number}")) for number in range(1, 4))) == [2]
    assert bench.refused() == {"1": "i-2 has no keys."}
    assert bench.incident("i-1").status is IncidentStatus.SETTLING


def test_what_cannot_be_put_aside_comes_back(bench: Bench) -> None:
    bench.dead.down = True
    assert bench.take("{", findings(finding()), findings(finding(cluster="lost"))) == [2, 0]
    assert bench.refused() == {}
    assert bench.incident().status is IncidentStatus.SETTLING
    counted = bench.telemetry.counts
    assert (counted["MessagesRefused"], counted["MessagesFailed"]) == (0, 2)
    bench.dead.down = False
    assert bench.take("{") == []


def test_dying_after_the_letter_brings_the_message_again_and_it_is_still_one_letter(bench: Bench) -> None:
    for _ in range(2):  # the answer of the first invocation never reached the queue
        assert bench.take("{", findings(finding())) == []
    assert list(bench.refused()) == ["0"]
    assert len(bench.store.all_incidents()) == 1


def test_an_outage_puts_nothing_aside_however_long_it_lasts(bench: Bench) -> None:
    bench.store.down = True
    for _ in range(30):
        assert bench.take("{", findings(finding())) == [1]
    assert list(bench.refused()) == ["0"]
    bench.store.down = False
    assert bench.take(findings(finding())) == []
    assert bench.incident().status is IncidentStatus.SETTLING


def test_a_batch_is_read_at_once_and_the_holders_after_it(bench: Bench) -> None:
    bench.take(*(findings(finding(f"i-{number}")) for number in range(10)))
    assert bench.store.reads == 1
    bench.take(*(findings(finding(f"i-{number}", name=f"again-{number}")) for number in range(10)))
    assert bench.store.reads == 3


def test_a_conflict_is_read_and_decided_again(bench: Bench) -> None:
    bench.store.conflicts = 2
    assert bench.take(findings(finding())) == []
    assert bench.incident().version == 1


def test_conflicts_without_end_bring_the_message_back(bench: Bench) -> None:
    bench.store.conflicts = 1000
    assert bench.take(findings(finding())) == [0]


def test_a_document_that_cannot_be_written_brings_its_message_back_alone(bench: Bench) -> None:
    bench.store.poison = "i-2"
    assert bench.take(*(findings(finding(f"i-{number}")) for number in range(1, 5))) == [1]
    assert sorted(bench.executions.started) == sorted(bench.incident(node).execution for node in ("i-1", "i-3", "i-4"))


def test_an_outage_brings_all_back_after_a_few_tries(bench: Bench) -> None:
    bench.store.down = True
    assert bench.take(*(findings(finding(f"i-{number}")) for number in range(10))) == list(range(10))
    assert bench.store.reads == 3


def test_an_execution_that_cannot_be_started_is_started_when_its_message_comes_again(bench: Bench) -> None:
    bench.take(findings(finding("i-2")))
    bench.executions.refused = bench.incident("i-2").id
    del bench.executions.started[bench.incident("i-2").execution]
    assert bench.take(findings(finding("i-1")), findings(finding("i-2"))) == [1]
    bench.executions.refused = ""
    assert bench.take(findings(finding("i-2"))) == []
    assert len(bench.executions.started) == 2


def test_an_answer_that_is_lost_is_given_again(bench: Bench) -> None:
    bench.take(findings(finding()))
    bench.now = at(30)
    message = ask(bench.incident().id, token="t")
    bench.executions.wait_for("t")
    bench.executions.mute = True
    assert bench.take(message) == [0]
    version = bench.incident().version
    bench.executions.mute = False
    assert bench.take(message) == []
    assert bench.executions.answers["t"].verdict == "act"
    assert bench.incident().version == version


def test_an_expired_token_is_nobodys_trouble(bench: Bench) -> None:
    bench.take(findings(finding()))
    assert bench.take(ask(bench.incident().id, token="expired")) == []


def test_a_timeline_item_that_is_lost_is_told_again_with_the_next_repeat(bench: Bench) -> None:
    bench.store.lines_fail = True
    assert bench.take(findings(finding())) == []
    assert not bench.store.lines
    bench.store.lines_fail = False
    bench.take(findings(finding()))
    assert sorted(bench.store.lines[bench.incident().id]) == [1, 2, 3]


def test_a_sweep_looks_up_who_is_silent_and_starts_anew(bench: Bench) -> None:
    bench.take(findings(finding()))
    bench.executions.end(bench.incident().id, 1)
    bench.now = at(30)
    bench.take(SweepMessage(cluster=CLUSTER, at=at(30)))
    assert bench.incident().attempt == 1
    bench.now = at(120)
    assert bench.take(SweepMessage(cluster=CLUSTER, at=at(120))) == []
    assert bench.incident().attempt == 2
    assert bench.incident().execution in bench.executions.started


def test_a_percentage_is_taken_of_the_living_nodes(bench: Bench) -> None:
    policy = plan(limits={"replacements": Limit(percent=50, within_seconds=600)})
    bench.sizes.nodes[CLUSTER] = 4
    nodes = ("i-1", "i-2", "i-3")
    bench.take(*(findings(finding(node, policy=policy)) for node in nodes))
    bench.now = at(30)
    bench.take(*(ask(bench.incident(node).id) for node in nodes))
    statuses = sorted(bench.incident(node).status for node in nodes)
    assert statuses == [IncidentStatus.ACTING, IncidentStatus.ACTING, IncidentStatus.PARKED]


def test_figures_tell_what_happened(bench: Bench) -> None:
    bench.store.conflicts = 1
    bench.now = at(3)
    bench.take(findings(finding()), "{")
    bench.now = at(30)
    bench.take(ask(bench.incident().id))
    bench.now = at(2000)
    bench.take(SweepMessage(cluster=CLUSTER, at=at(2000)))
    counted = {name: value for name, value in bench.telemetry.counts.items() if value}
    assert counted == {
        "MessagesTaken": 3,
        "MessagesRefused": 1,
        "DecisionsRepeated": 1,
        "IncidentsOpened": 1,
        "IncidentsParked": 1,
    }
    assert bench.telemetry.seconds == [
        ("SecondsFromQueuedToDecided", 3.0),
        ("OldestIncident", 1997.0),
        ("LongestOverdue", 1077.0),
    ]
    assert [remark for remark, _ in bench.telemetry.remarks] == ["A message is refused."]

"""A condition answers yes, no, or says what it misses; it never raises and hands CEL no more than it names."""

from datetime import UTC, datetime
from typing import Any

import pytest

from policies.contract.envelope import NodeIdentity
from policies.contract.events import Component, FaultEvent, JobRef
from policies.contract.vocabulary import ComponentType, Kind, Severity, Source
from policies.expressions.expression import Expression, Unanswered, compile_expression
from policies.expressions.members import NodeFacts, architecture_of
from policies.facts.snapshot import StatedFacts

MOMENT = datetime(2026, 3, 1, tzinfo=UTC)
EVENT = FaultEvent(
    id="0" * 32,
    seq=0,
    kind=Kind.GPU_XID,
    severity=Severity.ERROR,
    source=Source.KERNEL_LOG,
    observed_at=MOMENT,
    first_observed_at=MOMENT,
    component=Component(type=ComponentType.GPU, pci="0000:4b:00"),
    job=JobRef(id="train/a", rank=3),
    attributes={"xid": 79, "process": "python"},
    message="NVRM: Xid",
)
NODE = NodeFacts(
    NodeIdentity(cluster="c", name="n", instance_id="i-1", instance_type="p5.48xlarge", network_path=("nn-1", "nn-2")),
    StatedFacts({"node.in_maintenance": False}),
)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('event.kind.startsWith("gpu.") && event.severity in ["error", "critical"]', True),
        ("event.attributes.xid > 78 && event.attributes.xid < 80", True),
        ("has(event.component.uuid)", False),
        ("has(event.component.pci) && has(job.id)", True),
        ("has(event.attributes.pid) || event.count == 1", True),
        ('["Xid", "SXid"].exists(word, event.message.contains(word))', True),
        ('"nn-2" in node.network_path', True),
        ("node.in_maintenance", False),
        ("!node.in_maintenance", True),
        ("job.rank == 3", True),
        ('node.gpu_architecture == "hopper"', True),
        ('event.message.matches("^NVRM: ")', True),
    ],
)
def test_conditions_hold_or_not(text: str, answer: bool) -> None:
    assert compile_expression(text).ask(EVENT, NODE) is answer


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("event.attributes.pid == 7", "event.attributes.pid"),
        ("event.attributes.pid > 7", "pid"),
        ("job.step == 1", "job.step"),
        ('event.component.uuid == "GPU-1" && event.kind == "gpu.xid"', "event.component.uuid"),
    ],
)
def test_a_missing_field_is_no_answer_and_says_which(text: str, path: str) -> None:
    answer = compile_expression(text).ask(EVENT, NODE)
    assert answer == Unanswered(path, "is not there")


def test_a_missing_field_does_not_matter_where_another_term_says_no() -> None:
    assert compile_expression('event.attributes.pid == 7 && event.kind == "gpu.lost"').ask(EVENT, NODE) is False
    assert compile_expression('event.attributes.pid > 7 && event.kind == "gpu.lost"').ask(EVENT, NODE) is False


@pytest.mark.parametrize(
    "text",
    [
        "event.attributes.process > 3",  # text against number
        "event.attributes.xid",  # no truth value
        "event.count / 0 == 1",
        "int(event.message) == 1",
        '"x".matches(event.message + "(")',
    ],
)
def test_what_cannot_be_computed_is_no_answer_and_no_exception(text: str) -> None:
    answer = compile_expression(text).ask(EVENT, NODE)
    assert isinstance(answer, Unanswered)
    assert answer.reason


def test_an_unknown_fact_is_missing_and_not_false() -> None:
    bare = NodeFacts(NODE.identity)
    assert isinstance(compile_expression("node.in_maintenance").ask(EVENT, bare), Unanswered)


@pytest.mark.parametrize(
    ("instance_type", "architecture"),
    [
        ("p3.16xlarge", "volta"),
        ("p4de.24xlarge", "ampere"),
        ("p5en.48xlarge", "hopper"),
        ("p6-b200.48xlarge", "blackwell"),
        ("u-p6e-gb200x36", "blackwell"),
        ("m5.large", None),
        ("", None),
    ],
)
def test_the_gpu_architecture_follows_from_the_instance_type(instance_type: str, architecture: str | None) -> None:
    assert architecture_of(instance_type) == architecture


@pytest.mark.parametrize(
    "text", ["[1, 2][5] == 1", "[1, 2][-1] == 1", "1 / 0 == 1", "event.attributes.xid + 9223372036854775807 > 0"]
)
def test_whatever_breaks_inside_an_expression_is_no_answer_and_not_the_end_of_the_batch(text: str) -> None:
    assert isinstance(compile_expression(text).ask(EVENT, NODE), Unanswered)


class Panic(BaseException):
    """What a panic of Rust's looks like from here."""


def test_a_panic_is_no_answer_and_the_end_of_the_process_is_the_end() -> None:
    class Broken:
        def __init__(self, error: BaseException) -> None:
            self._error = error

        def execute(self, _context: object) -> bool:
            raise self._error

    def asked(error: BaseException) -> object:
        broken: Any = Broken(error)
        return Expression("true", ((),), broken).ask(EVENT, NODE)

    assert asked(Panic("index out of bounds")) == Unanswered("", "failed: index out of bounds")
    with pytest.raises(KeyboardInterrupt):
        asked(KeyboardInterrupt())

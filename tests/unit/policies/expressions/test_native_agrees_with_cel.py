"""What is answered without CEL is what CEL would have answered."""

from datetime import UTC, datetime

import cel
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.contract.envelope import NodeIdentity
from policies.contract.events import Component, FaultEvent, JobRef, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Orchestrator, Severity, Source
from policies.expressions.checker import check
from policies.expressions.expression import Expression, Unanswered, compile_expression
from policies.expressions.members import NodeFacts
from policies.facts.snapshot import StatedFacts

MOMENT = datetime(2026, 3, 1, tzinfo=UTC)
PATHS = [
    "event.kind",
    "event.severity",
    "event.count",
    "event.component.type",
    "event.component.pci",
    "event.attributes.a",
    "event.attributes.b",
    "event.attributes.xid",
    "job.id",
    "job.rank",
    "job.orchestrator",
    "node.gpu_architecture",
    "node.instance_type",
    "node.in_maintenance",
    "node.incidents_28d",
    "node.hours_since_repair",
]
FIGURES = ["node.incidents_28d", "node.hours_since_repair"]
TEXTS = [
    "gpu.xid",
    "gpu.lost",
    "error",
    "gpu",
    "0000:4b:00",
    "train/a",
    "eks",
    "hopper",
    "p5.48xlarge",
    "it's",
    "",
    "79",
]
LITERALS = st.sampled_from(TEXTS) | st.integers(-3, 3) | st.integers(-(2**62), 2**62) | st.booleans()
SCALARS: st.SearchStrategy[Scalar] = LITERALS | st.floats() | st.sampled_from([1.0, 0.0, 79.0, -0.0, 2.0**53 + 2])


def _literal(value: str | int | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _term(draw: st.DrawFn) -> str:
    path = draw(st.sampled_from(PATHS))
    form = draw(st.sampled_from(["==", "!=", "turned", "in", "contains", "has", "!has", "bound"]))
    operand = _literal(draw(LITERALS))
    if form == "in":
        return f"{path} in [{', '.join(map(_literal, draw(st.lists(LITERALS, max_size=4))))}]"
    if form == "bound":
        sides = [draw(st.sampled_from(FIGURES)), _literal(draw(st.integers(-3, 3) | st.integers(-(2**62), 2**62)))]
        return draw(st.sampled_from(["<", "<=", ">", ">="])).join(draw(st.permutations(sides)))
    if form == "turned":
        return f"{operand} == {path}"
    if form == "contains":
        return 'event.message.contains("x")'
    if form in {"has", "!has"}:
        return f"{form}({path})"
    return f"{path} {form} {operand}"


@st.composite
def expressions(draw: st.DrawFn) -> str:
    alternatives = [_conjunction(draw) for _ in range(draw(st.integers(1, 3)))]
    if len(alternatives) > 1:
        alternatives = [draw(st.sampled_from([one, f"({one})", f"(({one}))"])) for one in alternatives]
    whole = draw(st.sampled_from([" || ", "||", "\n  || "])).join(alternatives)
    return draw(st.sampled_from([whole, whole, f"({whole})", f"{whole} ? true : false"]))


def _conjunction(draw: st.DrawFn) -> str:
    terms = [_term(draw) for _ in range(draw(st.integers(1, 4)))]
    return draw(st.sampled_from([" && ", "&&", " &&\n  "])).join(terms)


@st.composite
def events(draw: st.DrawFn) -> FaultEvent:
    names = st.sampled_from(["a", "b", "xid"])
    component = Component(type=ComponentType.GPU, pci=draw(st.sampled_from([None, "0000:4b:00"])))
    job = JobRef(id="train/a", orchestrator=Orchestrator.EKS, rank=draw(st.none() | st.integers(0, 2)))
    return FaultEvent(
        id="0" * 32,
        seq=0,
        kind=draw(st.sampled_from([Kind.GPU_XID, Kind.GPU_LOST])),
        severity=draw(st.sampled_from(Severity)),
        source=Source.KERNEL_LOG,
        observed_at=MOMENT,
        first_observed_at=MOMENT,
        count=draw(st.integers(1, 3)),
        component=draw(st.sampled_from([None, component])),
        job=draw(st.sampled_from([None, job])),
        attributes=draw(st.dictionaries(names, SCALARS, max_size=3)),
        message=draw(st.sampled_from(["", "x"])),
    )


@st.composite
def nodes(draw: st.DrawFn) -> NodeFacts:
    kind = draw(st.sampled_from(["p5.48xlarge", "p3.2xlarge", "m5.large", ""]))
    snapshot = StatedFacts(
        draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "node.in_maintenance": st.booleans(),
                    "node.incidents_28d": st.integers(0, 3),
                    "node.hours_since_repair": st.floats(0, 700) | st.sampled_from([0.0, 1.0, 2.0]),
                },
            )
        )
    )
    return NodeFacts(NodeIdentity(cluster="c", name="n", instance_id="i-1", instance_type=kind), snapshot)


def _through_cel(expression: Expression, event: FaultEvent, node: NodeFacts) -> bool | type[Unanswered]:
    whole = Expression(expression.text, ((),), cel.compile(expression.text), expression.members)
    return _kind(whole.ask(event, node))


def _kind(answer: bool | Unanswered) -> bool | type[Unanswered]:
    return Unanswered if isinstance(answer, Unanswered) else answer


@settings(max_examples=400)
@given(expressions(), events(), nodes())
def test_native_and_cel_give_the_same_answer(text: str, event: FaultEvent, node: NodeFacts) -> None:
    expression = compile_expression(text)
    assert _kind(expression.ask(event, node)) == _through_cel(expression, event, node)


@settings(max_examples=200)
@given(expressions(), events(), nodes())
def test_what_the_index_knows_beforehand_changes_no_answer(text: str, event: FaultEvent, node: NodeFacts) -> None:
    expression = compile_expression(text)
    left = expression.discharge({"event.kind": event.kind.value})
    told = False if left is None else _kind(left.ask(event, node))
    assert told == _kind(expression.ask(event, node))


@pytest.mark.parametrize(
    "text",
    [
        'event.kind == "gpu.xid" && event.attributes.xid == 79',
        'event.kind == "gpu.ecc_uncorrected" && node.gpu_architecture in ["ampere", "hopper", "blackwell"]',
        'event.attributes["xid"] in [13, 31]',
        'event.kind == "gpu.xid" && has(event.attributes.fatal) && event.attributes.fatal == true',
        "has(job.id)",
        '!has(job.id) && event.kind == "gpu.xid"',
        'event.kind == "gpu.xid" || event.attributes.xid == 79',
        'event.kind == "gpu.xid" && node.lemon_score >= 60 && 3 > node.hours_since_repair',
        '(event.kind == "gpu.xid" && event.attributes.xid == 79) || event.kind == "gpu.lost"',
    ],
)
def test_plain_policies_need_no_cel(text: str) -> None:
    assert check(text, "when") == []
    assert compile_expression(text).program is None


@pytest.mark.parametrize(
    "text",
    [
        'event.kind == "gpu.xid" || !(event.attributes.xid == 79)',
        'event.kind == "gpu.xid" && (event.attributes.xid == 79 || event.count == 2)',
        '!(event.kind == "gpu.xid")',
        "!(has(job.id))",
        "!!has(job.id)",
        "event.count >= 2",
        "node.lemon_score >= 59.5",
        "node.lemon_score + 1 > 60",
        "has(node.network_path)",
        "node.in_maintenance",
        "event.attributes.ratio == 0.5",
        'event.kind == "gpu.xid" ? true : false',
        "event.count == 9007199254740994",
        '"nn-1" in node.network_path',
    ],
)
def test_everything_else_is_left_to_cel(text: str) -> None:
    assert check(text, "when") == []
    assert compile_expression(text).program is not None

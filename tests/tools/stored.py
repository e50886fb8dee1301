"""What the tables keep, as a release writes it: ``python -m tests.tools.stored`` writes it down for the next one.

Run it as the last step of a release. While a stack is deployed, and after a roll-back, the release before reads what
this one writes, and the other way round.
"""

import json
import sys
from pathlib import Path
from typing import Any

from policies.contract.base import Model
from policies.contract.vocabulary import Kind
from policies.coordination.budgets import Budget
from policies.coordination.holds import Job
from policies.coordination.incident import Incident
from policies.coordination.leases import Lease
from policies.coordination.switches import SelfShadow
from policies.coordination.windows import Window
from policies.evaluator import Delivery, Evaluation, evaluate
from policies.facts.capacity import Capacity
from policies.facts.history import History
from policies.facts.job import Progress
from policies.facts.maintenance import Maintenance
from policies.facts.recent import Recent
from policies.precision.misses import Misses
from policies.precision.record import Record
from tests.tools.envelopes import GPU, at, delivery, event, policy, rules

BEFORE = Path(__file__).resolve().parents[1] / "data" / "stored"
KINDS: dict[str, type[Model]] = {
    "budget": Budget,
    "capacity": Capacity,
    "history": History,
    "incident": Incident,
    "job": Job,
    "lease": Lease,
    "maintenance": Maintenance,
    "misses": Misses,
    "progress": Progress,
    "recent": Recent,
    "record": Record,
    "shadow": SelfShadow,
    "window": Window,
}
BATCHES = 3
_NOT_OF_THE_SHAPE = ("title", "description")


def schema_of(kind: str) -> dict[str, Any]:
    """Return the shape of documents of that *kind*, as their model reads them."""
    schema: dict[str, Any] = _bare(KINDS[kind].model_json_schema())
    return schema


def whole(schema: dict[str, Any], number: int = 0) -> Any:  # noqa: ANN401 - a document
    """Return a document of *schema* in which nothing is left out; with each *number* other words of each list of them.

    Of what may be of several types the last that is not null.
    """
    return _whole(schema, schema.get("$defs", {}), number)


def _whole(part: dict[str, Any], named: dict[str, Any], number: int) -> Any:  # noqa: ANN401, PLR0911 - a case a line
    if "$ref" in part:
        return _whole(named[part["$ref"].rpartition("/")[2]], named, number)
    if "anyOf" in part:
        return _whole([one for one in part["anyOf"] if one.get("type") != "null"][-1], named, number)
    if "enum" in part:
        return part["enum"][number % len(part["enum"])]
    if "const" in part:
        return part["const"]
    if part.get("type") == "object":
        more = part.get("additionalProperties")
        named_ones = {name: _whole(one, named, number) for name, one in part.get("properties", {}).items()}
        return named_ones or ({"k": _whole(more, named, number)} if isinstance(more, dict) else {})
    if part.get("type") == "array":
        items = part.get("prefixItems") or [part.get("items") or {}] * max(part.get("minItems", 0), 1)
        return [_whole(each, named, number) for each in items]
    if part.get("format") == "date-time":
        return "2026-03-01T10:00:00.000000Z"
    return {"string": "w" * max(part.get("minLength", 1), 1), "boolean": True}.get(part.get("type", ""), 1)


def judged(number: int, state: str) -> Evaluation:
    """Return what becomes of batch *number* of a node that has some of all that a state of a node holds."""
    hot = 'event.kind == "gpu.overheated"'
    book = rules(
        policy(name="often", count={"at_least": 4, "within": "1h"}),
        policy(name="alike", count={"at_least": 4, "within": "1h", "same": "event.attributes.pid"}),
        policy(name="apart", count={"at_least": 4, "within": "1h", "per": "node", "distinct": "event.component.pci"}),
        policy(name="lasts", when=hot, **{"for": "5m"}),
        policy(name="eased", cancel_when='event.kind == "condition.cleared"'),
    )
    return evaluate([_batch(number)], state=state, rulebook=book, now=at(number * 60 + 1))


def _batch(number: int) -> Delivery:
    named = GPU.model_copy(update={"uuid": "GPU-1"})
    kinds = (Kind.GPU_XID, Kind.GPU_OVERHEATED, Kind.CONDITION_CLEARED)
    told = [
        event(number * 4 + place, number * 60 + place, kind=kind, component=named, attributes={"pid": 7})
        for place, kind in enumerate(kinds[: 3 if number == 1 else 2])
    ]
    return delivery(*told, sent=number * 60 + 4, first_seq=number * 4)


def _bare(part: Any) -> Any:  # noqa: ANN401 - a part of a schema
    if isinstance(part, list):
        return [_bare(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {name: _bare(each) for name, each in part.items() if not (name in _NOT_OF_THE_SHAPE and _is_text(each))}


def _is_text(value: Any) -> bool:  # noqa: ANN401 - a property may be called so, and is a schema then
    return isinstance(value, str)


def main() -> int:
    """Write the shape of each kind, and a document of it, as the code here has them."""
    BEFORE.mkdir(parents=True, exist_ok=True)
    for kind, model in KINDS.items():
        schema = schema_of(kind)
        document = model.model_validate(whole(schema)).model_dump(mode="json")
        text = json.dumps({"document": document, "schema": schema}, indent=1, sort_keys=True)
        (BEFORE / f"{kind}.json").write_text(text + "\n", encoding="utf-8")
    state = ""
    for number in range(BATCHES):
        state = judged(number, state).state
    (BEFORE / "node-state.json").write_text(state + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

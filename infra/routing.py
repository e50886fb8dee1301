"""One Kubernetes function per VPC: lets the task that calls it choose by the incident's cluster.

Decides how the definition is changed for private endpoints; with none it stays as it is in its file. It must not know
what else the definition says.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Asl = dict[str, Any]


def by_cluster(definition: Asl, gap: str, others: Mapping[str, Sequence[str]]) -> Asl:
    """Return *definition* in which each task with the gap ``${gap}`` became a choice on ``$.cluster``.

    *others*: another gap -> clusters whose incidents fill that one. The choice takes the task's name, so that whoever
    led to the task now leads to the choice; the copies are called after their gaps and lead where the task led.
    """
    if not others:
        return definition
    states: dict[str, Asl] = {}
    for name, state in definition["States"].items():
        inner = _descend(state, gap, others)
        states.update(_split(name, inner, gap, others) if _asks(inner, gap) else {name: inner})
    return {**definition, "States": states}


def _descend(state: Asl, gap: str, others: Mapping[str, Sequence[str]]) -> Asl:
    """Return *state* with the states inside it (Parallel, Map) treated the same."""
    if "Branches" in state:
        return {**state, "Branches": [by_cluster(branch, gap, others) for branch in state["Branches"]]}
    return {
        key: by_cluster(value, gap, others) if key in {"ItemProcessor", "Iterator"} else value
        for key, value in state.items()
    }


def _asks(state: Asl, gap: str) -> bool:
    return state.get("Type") == "Task" and f"${{{gap}}}" in _texts(state)


def _texts(state: Asl) -> list[Any]:
    return [state.get("Resource"), *state.get("Parameters", {}).values(), *state.get("Arguments", {}).values()]


def _split(name: str, task: Asl, gap: str, others: Mapping[str, Sequence[str]]) -> dict[str, Asl]:
    rules = [
        {"Or": [{"Variable": "$.cluster", "StringEquals": cluster} for cluster in clusters], "Next": f"{name} {other}"}
        for other, clusters in others.items()
    ]
    choice = {
        "Type": "Choice",
        "Comment": "Each VPC has its own function.",
        "Choices": rules,
        "Default": f"{name} {gap}",
    }
    copies = {f"{name} {other}": _refill(task, gap, other) for other in (gap, *others)}
    return {name: choice, **copies}


def _refill(task: Asl, gap: str, other: str) -> Asl:
    def fill(value: Any) -> Any:  # noqa: ANN401 - ASL values are JSON of any shape
        return f"${{{other}}}" if value == f"${{{gap}}}" else value

    filled: Asl = {
        key: {k: fill(v) for k, v in task[key].items()} for key in ("Parameters", "Arguments") if key in task
    }
    resource = {"Resource": fill(task["Resource"])} if "Resource" in task else {}
    return {**task, **resource, **filled}

"""Creating a resource of a template: made, accepted as a written no-op, or reported.

moto answers CREATE_COMPLETE for a stack whose resources it does not know, and leaves intrinsic functions that it
cannot resolve in the properties. Here each resource that does not exist afterwards is a problem with a reason.
"""

import threading
from collections.abc import Iterator
from typing import Any

from moto.cloudformation import parsing

from local.aws.cloudformation.problems import Problems
from local.aws.errors import ResourceProblem, UnsupportedError
from local.aws.no_ops import NO_OPS
from local.aws.patches.replacing import replace

_nesting = threading.local()


class NoOpResource:
    """Stands for a resource of a type that is accepted and not made."""

    def __init__(self, logical_id: str, kind: str) -> None:
        self.logical_resource_id = logical_id
        self.cf_resource_type = kind
        self.physical_resource_id = f"no-op/{logical_id}"

    def get_cfn_attribute(self, attribute: str) -> Any:
        raise UnsupportedError(
            f"{self.logical_resource_id} ({self.cf_resource_type}) is a no-op here and has no {attribute}"
        )

    def is_created(self) -> bool:
        return True


class _DependencyError(UnsupportedError):
    """Another resource that this one refers to was not made."""


def apply(problems: Problems) -> None:
    """Report what cannot be made, and go on, so that one deployment shows every problem."""
    original = parsing.parse_and_create_resource

    def create(logical_id: str, resource: dict[str, Any], resources: Any, account_id: str, region_name: str) -> Any:
        stack = resources["AWS::StackName"]
        depth = getattr(_nesting, "depth", 0)
        if problems.has(stack, logical_id):
            return _missing(logical_id, depth)
        condition = resource.get("Condition")
        if condition and not resources.lazy_condition_map[condition]:
            return None
        _nesting.depth = depth + 1
        try:
            return _create(original, logical_id, resource, resources, account_id, region_name)
        except Exception as error:  # noqa: BLE001 - every reason belongs in the report
            reason = str(error) or type(error).__name__
            problems.add(stack, ResourceProblem(logical_id, resource["Type"], reason))
            return _missing(logical_id, depth)
        finally:
            _nesting.depth = depth

    replace(parsing, "parse_and_create_resource", create)
    _check_resolved()


def _missing(logical_id: str, depth: int) -> None:
    """A missing resource is nothing at the top, and an error for the one that refers to it."""
    if depth:
        raise _DependencyError(f"refers to {logical_id}, which was not made")


def _create(original: Any, logical_id: str, resource: dict[str, Any], *rest: Any) -> Any:
    kind = resource["Type"]
    if kind in NO_OPS:
        return NoOpResource(logical_id, kind)
    made = original(logical_id, resource, *rest)
    if made is None:
        raise UnsupportedError("the embedded AWS does not know this type")
    return made


def _check_resolved() -> None:
    original = parsing.parse_resource

    def parse(resource: dict[str, Any], resources: Any) -> Any:
        parsed = original(resource, resources)
        if parsed is not None:
            for left in _unresolved(parsed[1].get("Properties", {})):
                raise UnsupportedError(f"{left} could not be resolved")
        return parsed

    replace(parsing, "parse_resource", parse)


def _unresolved(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (str({key: inner}) for key, inner in value.items() if key.startswith("Fn::"))
        for inner in value.values():
            yield from _unresolved(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _unresolved(inner)

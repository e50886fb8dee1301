"""The record of calls as a value, apart from the recorder so that reading it does not load moto."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

# Condition keys of IAM with their values: (("aws:ResourceTag/team", ("a",)), …), sorted.
Context = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True, order=True)
class RecordedCall:
    """Calls of one principal with one IAM action (`dynamodb:PutItem`) on the same resources (ARNs, or `*`).

    `context` holds what IAM conditions may ask for: leading keys of DynamoDB, tags of the resource or the request.
    """

    principal: str
    action: str
    resources: tuple[str, ...]
    count: int
    context: Context = ()

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        context = tuple((key, tuple(values)) for key, values in value.get("context", ()))
        return cls(value["principal"], value["action"], tuple(value["resources"]), value["count"], context)


@dataclass(frozen=True, slots=True)
class Need:
    """One right that a call needs: an action on resources, in a context."""

    action: str
    resources: tuple[str, ...]
    context: Context = ()

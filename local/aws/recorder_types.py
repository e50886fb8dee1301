"""The record of calls as a value, apart from the recorder so that reading it does not load moto."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True, order=True)
class RecordedCall:
    """Calls of one principal with one IAM action (`dynamodb:PutItem`) on the same resources (ARNs, or `*`)."""

    principal: str
    action: str
    resources: tuple[str, ...]
    count: int

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        return cls(value["principal"], value["action"], tuple(value["resources"]), value["count"])

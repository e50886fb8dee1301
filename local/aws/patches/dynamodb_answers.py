"""A value of an item is told as it is held.

moto holds what DynamoDB tells (`{"S": "text"}`), and yet looks for each of the ten members that a value could have,
under several names each. With all policies in force, that was half of what the server did.
"""

import functools
from typing import Any

from moto.core.serialize import JSONSerializer

from local.aws.patches.replacing import replace

_VALUE = "AttributeValue"


@functools.cache
def apply() -> Any:
    """Put it in place, once a process; what stood there is returned."""

    def serialize(self: Any, serialized: Any, value: Any, shape: Any, key: str) -> None:
        if shape.name != _VALUE or not key or type(value) is not dict or not value.keys() <= shape.members.keys():
            original(self, serialized, value, shape, key)
            return
        held: dict[str, Any] = {}
        for member, inner in value.items():
            if inner is not None:
                self._serialize(held, inner, shape.members[member], member)
        self._default_serialize(serialized, held, shape, key)

    original = replace(JSONSerializer, "_serialize_type_structure", serialize)
    return original

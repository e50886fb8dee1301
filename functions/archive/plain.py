"""Items of DynamoDB as JSON: numbers as whole ones where they are, bytes as base64, as Lambda hands them over.

It must not know what an item means.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from boto3.dynamodb.types import TypeDeserializer

_FROM = TypeDeserializer()


def plain(image: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes in *image* (of a table's stream)."""
    return {name: _plain(_FROM.deserialize(_as_text(value))) for name, value in image.items()}


def _as_text(value: Any) -> Any:  # noqa: ANN401 - DynamoDB's JSON of any depth
    """Return *value* with its bytes, which are base64 text here, as the text they are: boto3 expects bytes there."""
    match value:
        case {"B": str(text)}:
            return {"S": text}
        case {"BS": list(texts)}:
            return {"SS": texts}
        case {"M": dict(inner)}:
            return {"M": {name: _as_text(each) for name, each in inner.items()}}
        case {"L": list(inner)}:
            return {"L": [_as_text(each) for each in inner]}
    return value


def _plain(value: Any) -> Any:  # noqa: ANN401 - as above
    match value:
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case dict():
            return {str(name): _plain(each) for name, each in value.items()}
        case list():
            return [_plain(each) for each in value]
        case set():
            return sorted((_plain(each) for each in value), key=str)
    return value

"""The JSON Schema of a policy as an operator writes it, generated from the model: for editors that complete and check.

Decides how what the model reads from text (a span of time) looks in the text. It must not write files.
"""

import json
from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from policies.durations import parse_duration
from policies.model import Policy

_DURATION: Mapping[str, str] = {
    "type": "string",
    "pattern": r"^\s*(\d+(\.\d+)?(ms|s|m|h|d))+\s*$",
    "description": "A span of time with its unit: 500ms, 30s, 10m, 1h30m, 2d.",
}
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _AsWritten(GenerateJsonSchema):
    """Durations are text in a document and seconds in the model."""

    def function_before_schema(self, schema: core_schema.BeforeValidatorFunctionSchema) -> JsonSchemaValue:
        """See the base."""
        reads = schema["function"]["function"]
        return dict(_DURATION) if reads is parse_duration else super().function_before_schema(schema)


def policy_schema() -> dict[str, Any]:
    """Return the schema of a document."""
    schema = Policy.model_json_schema(mode="validation", by_alias=True, schema_generator=_AsWritten)
    return {"$schema": _DIALECT, **_without_read_defaults(schema)}


def render_policy_schema() -> dict[str, str]:
    """Return file name -> text, in a stable order."""
    return {"policy.json": json.dumps(policy_schema(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"}


def _text(seconds: float) -> str:
    """Return *seconds* as a person writes them."""
    units = ((86_400, "d"), (3600, "h"), (60, "m"))
    size, unit = next(((size, unit) for size, unit in units if seconds and seconds % size == 0), (1, "s"))
    return f"{seconds / size:g}{unit}"


def _without_read_defaults(schema: Any) -> Any:  # noqa: ANN401 - JSON
    """Return *schema* without defaults that are no text a person could write: seconds, and whole objects of them."""
    if isinstance(schema, list):
        return [_without_read_defaults(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: _without_read_defaults(one) for name, one in schema.items()}
    if kept.get("description") == _DURATION["description"]:
        kept["description"] += f" From {_text(kept.pop('ge', 0))} to {_text(kept.pop('le', 86_400))}."
    default = kept.get("default")
    is_seconds = kept.get("type") == "string" and isinstance(default, int | float)
    if "default" in kept and (is_seconds or isinstance(default, dict)) and "properties" not in kept:
        del kept["default"]
    return kept

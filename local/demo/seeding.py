"""Puts the shipped policies into the policies table as `live` items, as an operator does, and waits for the guard."""

import time
from collections.abc import Mapping
from copy import deepcopy
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from boto3.dynamodb.types import TypeSerializer

from console.policy.edits import SHIPPED_SOURCE, Editor, live_item, pushed_from
from functions.adapters.policies import DynamoPolicies
from local.aws.server import EmbeddedAws
from local.demo.errors import TookTooLongError
from policies.contract.vocabulary import PolicyMode
from policies.yaml_text import read_yaml

SHIPPED = Path(__file__).resolve().parents[2] / "policies" / "shipped"
ARMED = PolicyMode.ACTIVE.value
_SERIALIZER = TypeSerializer()


def shipped_policies(names: frozenset[str] | None = None) -> dict[str, dict[str, Any]]:
    """Name -> document of every policy in `policies/shipped`, or of those *names*, armed.

    What touches hardware or a run ships in shadow. Here it acts, as after `relight policy push policies/shipped --mode
    active`: a demo of decisions alone would show nothing.
    """
    # A file is named as its policy.
    paths = [path for path in sorted(SHIPPED.glob("*.yaml")) if names is None or path.stem in names]
    documents = [deepcopy(_read(path)) for path in paths]
    return {one["name"]: {**one, "mode": ARMED} for one in documents if isinstance(one, dict)}


@cache
def _read(path: Path) -> object:
    return read_yaml(path.read_bytes())


def put_policies(aws: EmbeddedAws, table: str, documents: Mapping[str, Mapping[str, Any]]) -> None:
    """Write each document as a push of the shipped folder does: a push that is tried here goes as anywhere."""
    dynamodb = aws.client("dynamodb")
    editor = Editor("demo", datetime.now(UTC))
    for document in documents.values():
        pushed = pushed_from(SHIPPED_SOURCE, document, editor.at)
        item = {**live_item(document, editor, pushed=pushed), "sk": "live"}
        dynamodb.put_item(TableName=table, Item=_SERIALIZER.serialize(_without_floats(item))["M"])


def _without_floats(value: Any) -> Any:  # noqa: ANN401 - JSON; boto3 takes decimals, never floats
    if isinstance(value, float):
        return Decimal(str(value))
    if isinstance(value, Mapping):
        return {key: _without_floats(inner) for key, inner in value.items()}
    return [_without_floats(inner) for inner in value] if isinstance(value, list) else value


def wait_until_accepted(aws: EmbeddedAws, table: str, names: set[str], seconds: float) -> None:
    """Return when the guard has put every policy into force (it is listed); TookTooLongError names the others."""
    deadline = time.monotonic() + seconds
    policies = DynamoPolicies(aws.client("dynamodb"), table)
    while missing := names - {heading.name for heading in policies.headings()}:
        if time.monotonic() > deadline:
            raise TookTooLongError(
                f"the guard did not accept {', '.join(sorted(missing))} within {seconds:.0f} s. "
                "Its verdict stands on the item `live`; its log is with the Lambda logs."
            )
        time.sleep(0.2)

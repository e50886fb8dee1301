"""The template, synthesised once for all tests of this folder."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infra import node
from infra.synth import synthesise

node.prepare()  # before a test module imports aws_cdk: it must not need a Node of the machine

Template = dict[str, Any]
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def template_path() -> Path:
    # Where the demo has it: the next run, the other worker and the demo find it there when nothing changed.
    return synthesise(ROOT / "build" / "cdk.out")


@pytest.fixture(scope="session")
def template(template_path: Path) -> Template:
    loaded: Template = json.loads(template_path.read_text())
    return loaded


@pytest.fixture(scope="session")
def of_type(template: Template) -> Callable[[str], dict[str, Any]]:
    """Properties by logical id of all resources of a type (without the leading AWS::)."""

    def find(kind: str) -> dict[str, Any]:
        resources = template["Resources"].items()
        return {name: resource["Properties"] for name, resource in resources if resource["Type"] == f"AWS::{kind}"}

    return find

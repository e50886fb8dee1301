"""What docs/policies.md shows as YAML or JSON is what it means, and does what the page says of it."""

import argparse
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from console.commands import policy as command
from policies.contract.envelope import NodeIdentity
from policies.explain.explaining import World, explain
from policies.explain.reading import deliveries_in
from policies.loader import load_text
from policies.model import Count, Policy, PolicyFields, written_names
from policies.rulebook import AcceptedPolicy
from tests.tools.envelopes import NOW, SHIPPED

PAGE = (Path(__file__).parents[3] / "docs" / "policies.md").read_text(encoding="utf-8")
_SPAN = re.compile(r"`([a-z_]+): ([^`…]+)`")
ANY: dict[str, Any] = {"name": "any", "mode": "off", "why": "any", "when": "true", "do": ["alert"]}


def block(language: str) -> str:
    found = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(found) == 1
    return str(found[0])


def spans() -> list[tuple[str, str]]:
    known = {*written_names(Policy), *written_names(Count)}
    return sorted({(name, value) for name, value in _SPAN.findall(PAGE) if name in known and value.strip() != "..."})


def first() -> Policy:
    loaded = load_text(block("yaml"))
    assert isinstance(loaded, Policy)
    return loaded


def test_the_first_example_cites_what_the_shipped_ones_cite() -> None:
    """Unquoted, a comma makes two citations of one."""
    cited = {each for file in SHIPPED.glob("*.yaml") for each in yaml.safe_load(file.read_text())["cites"]}
    assert set(first().cites) <= cited


def test_every_field_that_is_shown_in_a_line_holds_what_is_shown() -> None:
    found = spans()
    assert {"count", "for", "schedule", "trust"} <= {name for name, _value in found}
    for name, value in found:
        read = yaml.safe_load(f"{name}: {value}") if name != "mode" else {name: value}
        inner = {"count": read} if name not in written_names(Policy) else read
        PolicyFields.model_validate({**ANY, **inner})


def test_three_in_an_hour_are_explained_as_the_page_says() -> None:
    node = NodeIdentity(cluster="c", name="n", instance_id="i-1", instance_type="p5.48xlarge")
    deliveries = deliveries_in(block("json"), node, NOW)
    found = explain(deliveries, state="", world=World([AcceptedPolicy(first(), 1, "page")]))
    assert [each.verdicts[0].outcome.value for each in found] == ["waits", "waits", "fired"]
    assert len(json.loads(block("json"))) == len(found)


def _actions() -> dict[str, argparse.ArgumentParser]:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    (choices,) = [one.choices for one in parser._actions if isinstance(one, argparse._SubParsersAction)]
    return dict(choices)


@pytest.mark.parametrize("action", sorted(_actions()))
def test_every_command_of_policies_speaks_json(action: str) -> None:
    assert "--json" in _actions()[action].format_help()

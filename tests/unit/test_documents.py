"""The pages speak of what exists: links lead, commands are commands, settings and fields are all there."""

import argparse
import re
import shlex
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from urllib.parse import unquote

import pytest
from pydantic import BaseModel

from agent.settings import Settings
from console import main as console
from infra.settings import Cluster, Deployment
from local.demo.report import STAGES, Report
from policies import model
from policies.checkpoints.layouts import LAYOUTS
from policies.contract.vocabulary import Action, Kind
from policies.expressions.members import MEMBERS
from policies.facts import registry
from policies.loader import load_text

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("training/*.md"), *ROOT.glob("*/*/README.md")]
)
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ELSEWHERE = re.compile(r"^[a-z]+:")
COMMAND = re.compile(r"(?:^|[|;&] |\$ )(?:\S*/bin/)?((?:relight|make)(?: [^|;&>#\n]*)?)(?=$|[|;&>#])")


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(page: Path, *languages: str) -> Iterator[str]:
    found = FENCE.findall(page.read_text(encoding="utf-8"))
    return (body for language, body in found if language in languages)


def commands(page: Path) -> Iterator[list[str]]:
    """Yield the words of each `relight` and `make` in shell blocks and between backticks."""
    lines = [line for block in blocks(page, "", "sh", "bash") for line in block.replace("\\\n", " ").splitlines()]
    lines += re.findall(r"`((?:relight|make) [^`]+)`", FENCE.sub("", page.read_text(encoding="utf-8")))
    for line in lines:
        for found in COMMAND.findall(line.strip()):
            yield shlex.split(found, comments=True)


def anchors(page: Path) -> set[str]:
    """Return the fragments that a page's headings make."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    plain = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in headings)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", page.read_text(encoding="utf-8")))
    lost = []
    for link in links:
        if ELSEWHERE.match(link):
            continue
        path, _, fragment = unquote(link).partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (fragment and fragment not in anchors(target)):
            lost.append(link)
    assert lost == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_command_exists(page: Path) -> None:
    for name, *words in commands(page):
        if name == "make":
            wanted = {word for word in words if "=" not in word}
            assert wanted <= TARGETS, f"make has no {wanted - TARGETS}"
        else:
            understood(words)


def understood(words: list[str]) -> None:
    """Fail unless `relight` understands *words*; a command without its words, as prose names it, is fine."""
    if not words or words[0].startswith("-"):
        return
    assert words[0] in console.COMMANDS
    parser = argparse.ArgumentParser(prog=f"relight {words[0]}", exit_on_error=False)
    console.load(words[0]).add_arguments(parser)
    try:
        parser.parse_args(words[1:])
    except (SystemExit, argparse.ArgumentError):
        choices = {name for action in parser._actions if action.choices for name in action.choices}
        assert len(words) == 1 or (len(words) == 2 and words[1] in choices), f"relight does not know {words}"


def test_commands_are_found_where_pages_print_them() -> None:
    found = [words for page in PAGES for words in commands(page)]
    assert ["make", "demo"] in found
    assert ["relight", "policy", "push", "policies/shipped", "--mode", "shadow"] in found
    assert ["relight", "agent", "parse"] in found


@pytest.mark.parametrize("words", [["policies"], ["policy", "pusch"], ["agent", "run", "--conf-file", "x"]])
def test_a_command_that_does_not_exist_is_noticed(words: list[str]) -> None:
    with pytest.raises(AssertionError):
        understood(words)


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_policy_that_is_printed_is_a_good_one(page: Path) -> None:
    for block in blocks(page, "yaml"):
        assert isinstance(loaded := load_text(block), model.Policy), loaded


@pytest.mark.parametrize(
    ("page", "described"),
    [
        ("docs/agent.md", Settings),
        ("docs/deploying.md", Deployment),
        ("docs/deploying.md", Cluster),
        ("docs/policies.md", model.Policy),
        ("docs/policies.md", model.Count),
        ("docs/policies.md", model.LimitRule),
        ("docs/policies.md", model.Example),
        ("docs/policies.md", model.ExampleEvent),
    ],
)
def test_every_field_is_described(page: str, described: type[BaseModel]) -> None:
    text = text_of(page)
    assert {
        name for name in model.written_names(described) if f"`{name}`" not in text and f"`[[{name}]]`" not in text
    } <= {
        "network"  # a table of its own: `[clusters.network]`
    }


@pytest.mark.parametrize(
    ("heading", "described"),
    [
        ("## Fields", model.Policy),
        ("### `count`", model.Count),
        ("### `limits`", model.LimitRule),
    ],
)
def test_the_table_of_fields_is_the_model(heading: str, described: type[BaseModel]) -> None:
    table = re.split(r"^##", text_of("docs/policies.md").split(f"\n{heading}\n")[1], flags=re.MULTILINE)[0]
    rows = [re.findall(r"`(\w+)`", row) for row in re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)]
    assert sorted(name for row in rows for name in row) == sorted(model.written_names(described))


def test_no_setting_is_described_that_is_not_there() -> None:
    table = text_of("docs/agent.md").split("## Settings")[1].split("## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(Settings.model_fields)


def test_every_kind_that_the_agent_measures_is_described() -> None:
    modules = [path for folder in ("gpu", "fabric", "host", "job") for path in (ROOT / "agent" / folder).rglob("*.py")]
    named = {name for path in modules for name in re.findall(r"\bKind\.([A-Z_]+)\b", path.read_text(encoding="utf-8"))}
    assert len(named) > 40
    text = text_of("docs/agent.md")
    assert {Kind[name].value for name in named if f"`{Kind[name].value}`" not in text} == set()


def test_every_member_and_action_of_a_policy_is_described() -> None:
    text = text_of("docs/policies.md")
    short = {f"`.{name.rpartition('.')[2]}`" for name in MEMBERS if f"`{name}`" not in text}
    assert {name for name in short if name not in text} == set()
    assert {action for action in Action if f"`{action}`" not in text} == set()


def test_the_table_of_facts_is_the_registry() -> None:
    table = text_of("docs/policies.md").split("\n### Facts\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([\w.]+)` \| ([\w ]+) \| ?`?(\w*)`? ?\| (.+) \|$", table, re.MULTILINE)
    documents = {member: registry.document_of(member) for member in registry.FACTS}
    assert sorted(rows) == sorted(
        (member, fact.type.value, one.name if (one := documents[member]) else "", fact.says)
        for member, fact in registry.FACTS.items()
    )


def test_every_layout_of_checkpoints_is_described() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", text_of("docs/checkpoints.md"), re.MULTILINE)
    assert rows == list(LAYOUTS)


def test_every_decision_is_in_the_index() -> None:
    index = text_of("docs/decisions/README.md")
    pages = sorted(path.name for path in (ROOT / "docs" / "decisions").glob("0*.md"))
    assert re.findall(r"\]\((0[^)]+)\)", index) == pages


def test_the_timeline_shows_every_stage_and_every_figure_of_a_run() -> None:
    shown = text_of("docs/pictures/timeline.svg").replace("&#160;", " ")
    assert [stage for stage in STAGES if stage.replace("_", " ") not in shown] == []
    assert "gpu_hours_lost" in {field.name for field in fields(Report)}
    assert "GPU-hours lost" in shown

"""The runbook speaks of what exists: every alarm has its section, every `relight` command is one, every link leads."""

import argparse
import json
import re
import shlex
from pathlib import Path

import pytest

from console import main as console
from infra.settings import DEFAULT
from infra.synth import synthesise
from policies.coordination.switches import EVERYTHING, stop_of
from tests.tools import trail_stack

ROOT = Path(__file__).resolve().parents[3]
TEXT = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
HEADINGS = re.findall(r"^#{2,3} (.+)$", TEXT, re.MULTILINE)
COMMANDS = sorted(
    {*re.findall(r"^ *(relight [a-z].*?)(?:  +#.*)?$", TEXT, re.MULTILINE), *re.findall(r"`(relight [a-z].*?)`", TEXT)}
)


def anchor(heading: str) -> str:
    """Return the fragment that GitHub makes of a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize(
    ("assembly", "settings"), [(ROOT / "build" / "cdk.out", DEFAULT), (trail_stack.ASSEMBLY, trail_stack.SETTINGS)]
)
def test_every_alarm_has_a_section_of_its_name(assembly: Path, settings: Path) -> None:
    """Those that only a deployment with a trail of its own has, too."""
    template = json.loads(synthesise(assembly, settings=settings).read_text(encoding="utf-8"))
    resources = template["Resources"].items()
    ids = [name for name, resource in resources if resource["Type"] == "AWS::CloudWatch::Alarm"]
    alarms = {name.removeprefix("Alarms")[:-8] for name in ids}  # CDK adds eight digits of a hash
    named = {word for heading in HEADINGS for word in heading.split(", ")}
    assert alarms
    assert alarms <= named


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_of_relight_is_one(line: str) -> None:
    name, *words = shlex.split(line)[1:]
    assert name in console.COMMANDS
    command = console.load(name)
    parser = argparse.ArgumentParser(exit_on_error=False)
    command.add_arguments(parser)
    parser.parse_args(words)


def test_every_link_within_the_page_leads_somewhere() -> None:
    anchors = {anchor(heading) for heading in HEADINGS}
    linked = set(re.findall(r"\]\(#([^)]+)\)", TEXT))
    assert linked
    assert linked <= anchors


def test_the_metrics_are_those_that_functions_write() -> None:
    """All of them, and no others."""
    code = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "functions").rglob("*.py"))
    section = TEXT.split("## What the metrics say")[1].split("AWS's own")[0]
    told = set(re.findall(r"`([A-Z]\w+)`", section)) - {"Relight"}
    assert told
    assert {name for name in told if f'"{name}"' not in code} == set()
    written = set(re.findall(r"\.(?:count|measure_seconds)\(\s*\"([A-Z]\w+)\"", code))
    assert written - told == set()


def test_a_person_who_stops_everything_by_hand_writes_the_item_that_stops() -> None:
    assert f"`name` = `{EVERYTHING}`, `sk` = `live`, `mode` = `off`" in TEXT
    assert stop_of({"name": EVERYTHING, "sk": "live", "mode": "off"})


def test_no_recipe_reads_whole_items_of_incidents_or_writes_to_the_queue_of_coordinate() -> None:
    assert "aws sqs send-message" not in TEXT
    assert not re.search(r"aws dynamodb .*IncidentsTable", TEXT)

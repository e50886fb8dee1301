"""An example goes behind the others; no other byte of the file changes."""

import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.record.appending import There, appended, there_already
from policies.contract.errors import BadInputError
from policies.loader import load_text
from policies.model import Policy
from policies.yaml_text import read_yaml

SHIPPED = sorted((Path(__file__).parents[4] / "policies" / "shipped").glob("*.yaml"))
EXAMPLE = {
    "says": "as it happened: gpu.lost",
    "events": [{"kind": "gpu.lost", "message": 'it said: # "79"', "attributes": {"was_there": True}}],
    "findings": 1,
}  # fmt: skip
HEAD = 'name: a\nmode: off\nwhy: b\nwhen: event.kind == "gpu.lost"\ndo: [record]\n'
ONE = "  - says: c\n    events: [{kind: gpu.lost}]\n    findings: 1\n"


def document(text: str) -> dict[str, Any]:
    read = read_yaml(text)
    assert isinstance(read, dict), read
    return read


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_a_shipped_file_gets_one_example_more_and_stays_as_it_was(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    made = appended(text, EXAMPLE)
    before, after = document(text), document(made)
    assert after["examples"] == [*before["examples"], EXAMPLE]
    added = len(made) - len(text)
    assert any(made[:at] + made[at + added :] == text for at in range(len(text) + 1)), "something was put in, no more"


@pytest.mark.parametrize(
    ("text", "there"),
    [
        (HEAD, 0),
        (HEAD.rstrip("\n"), 0),
        (f"{HEAD}examples: []\n", 0),
        (f"{HEAD}examples: []  # none yet\n", 0),
        (f"{HEAD}examples:\n{ONE}", 1),
        (f"{HEAD}examples:\n{ONE}".rstrip("\n"), 1),
        (f"{HEAD}examples: # ours\n{ONE}\n# the end\n", 1),
        (f"examples:\n{ONE}  # about the list\n\n# about the name\n{HEAD}", 1),
        (f"examples:\n{ONE.replace('  - ', '- ').replace('    ', '  ')}{HEAD}", 1),
        (f"{HEAD}examples:\n{textwrap.indent(ONE, '    ')}", 1),
        (f"{HEAD}examples:\n{ONE}".replace("\n", "\r\n"), 1),
    ],
)  # fmt: skip
def test_wherever_the_list_stands_and_however_it_is_indented(text: str, there: int) -> None:
    made = appended(text, EXAMPLE)
    examples = document(made)["examples"]
    assert isinstance(examples, list)
    assert (len(examples), examples[-1]) == (there + 1, EXAMPLE)
    for comment in ("# ours", "# the end", "# about the name", "# about the list", "# none yet"):
        assert (comment in made) == (comment in text)
    if "\r\n" in text:
        assert made.count("\n") == made.count("\r\n")
    assert isinstance(load_text(made, try_examples=False), Policy)


@pytest.mark.parametrize("other", [{}, {"says": "another title"}, {"findings": 0}])
def test_the_same_events_are_the_same_story_whatever_it_is_called_and_however_it_ends(other: dict[str, Any]) -> None:
    once = appended(f"{HEAD}examples:\n{ONE}", EXAMPLE)
    line = 1 + once.splitlines().index("    findings: 1", 9)
    assert there_already(once, {**EXAMPLE, **other}) == There("as it happened: gpu.lost", 1, line)


@pytest.mark.parametrize(
    "other", [{"events": [{"kind": "gpu.held"}]}, {"until": "5m"}, {"instance_type": "p4d.24xlarge"}]
)
def test_other_events_or_another_world_are_another_story(other: dict[str, Any]) -> None:
    assert there_already(appended(HEAD, EXAMPLE), {**EXAMPLE, **other}) is None
    assert there_already(HEAD, EXAMPLE) is None


def of_a_run(**how_far: object) -> dict[str, Any]:
    job = {"id": "job-1", "orchestrator": "eks", **how_far}
    return {**EXAMPLE, "events": [{"kind": "gpu.lost", "job": job}, {"kind": "gpu.lost", "after": "5s"}]}


FAR = [{"step": 5816}, {"epoch": 3}, {"checkpoint": "s3://bucket-a/1"}]


@pytest.mark.parametrize("far", FAR)
def test_how_far_the_run_was_makes_no_other_story(far: dict[str, object]) -> None:
    """Of an incident's own notes and of the archive it is told twice, from two moments of one run."""
    for one, other in ((of_a_run(**far), of_a_run()), (of_a_run(), of_a_run(**far))):
        assert there_already(appended(HEAD, one), other)
    assert there_already(appended(HEAD, of_a_run(step=5816)), of_a_run(step=6260))
    assert there_already(appended(HEAD, of_a_run(**far)), {**of_a_run(), "events": [{"kind": "gpu.lost"}]}) is None
    assert there_already(appended(HEAD, of_a_run(rank=1)), of_a_run(rank=2)) is None


@pytest.mark.parametrize("far", FAR)
@pytest.mark.parametrize("asks", ["when", "unless", "cancel_when", "count"])
def test_to_a_policy_that_asks_how_far_it_was_it_does(far: dict[str, object], asks: str) -> None:
    (name,) = far
    place = f"count: {{at_least: 2, same: job.{name}}}" if asks == "count" else f"{asks}: has(job.{name})"
    head = HEAD.replace('when: event.kind == "gpu.lost"', place) if asks == "when" else f"{HEAD}{place}\n"
    assert there_already(appended(head, of_a_run(**far)), of_a_run()) is None
    assert there_already(appended(head, of_a_run(**far)), of_a_run(**far))


@pytest.mark.parametrize(
    "text", [f"{HEAD}examples: [{{says: c, events: [{{kind: gpu.lost}}], findings: 1}}]\n", "- a\n"]
)
def test_a_file_that_leaves_no_room_is_refused(text: str) -> None:
    with pytest.raises(BadInputError):
        appended(text, EXAMPLE)


@given(st.lists(st.sampled_from(["\n", "# a comment\n", "  # deeper\n"]), max_size=4).map("".join), st.booleans())
def test_comments_and_blank_lines_stay(between: str, first: bool) -> None:
    block = f"examples:\n{between}{ONE}{between}"
    text = f"{block}{HEAD}" if first else f"{HEAD}{block}"
    made = appended(text, EXAMPLE)
    rest = iter(made.splitlines())
    assert all(line in rest for line in text.splitlines()), "every line is there, in its order"
    assert document(made) == {**document(text), "examples": [*document(text)["examples"], EXAMPLE]}

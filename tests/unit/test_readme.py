"""What a newcomer reads first explains its words, and says how to get what it installs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
AGENT = (ROOT / "docs" / "agent.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("told", ["A *rung* is", "A *fence* is", "To *fence a node* "])
def test_a_word_of_our_own_is_explained_before_it_is_used(told: str) -> None:
    """The picture at the top uses them, and the tables below."""
    assert README.index(told) < README.index("## Try it")


def test_the_wheel_is_built_before_it_is_installed_as_the_page_of_the_agent_builds_it() -> None:
    (build,) = [line for line in AGENT.splitlines() if "uv build --wheel" in line]
    assert build in README.splitlines()
    assert README.index(build) < README.index("pip install --no-deps relight-0.1.0-py3-none-any.whl")


def test_the_picture_shows_every_executor() -> None:
    workflow = (ROOT / "infra" / "asl" / "handle-incident.asl.json").read_text(encoding="utf-8")
    executors = {name.lower() for name in re.findall(r"\$\{(\w+)FunctionArn\}", workflow)}
    drawn = (ROOT / "docs" / "pictures" / "way-of-an-event.svg").read_text(encoding="utf-8")
    ours = set(re.findall(r'<rect class="ours"[^>]*/>\n<text class="t"[^>]*>([^<]+)<', drawn))
    assert len(executors) == 6
    assert executors <= ours
    assert "one of six executors" in drawn

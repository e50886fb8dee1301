"""Who asks a word of a command for help is shown how others use it, and nothing that the word does not take."""

import argparse
import re
import shlex
from collections.abc import Iterator

import pytest

from console import main as console
from console.examples import put_examples


def words() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for name in console.COMMANDS:
        command = console.load(name)
        parser = argparse.ArgumentParser(prog=f"relight {name}")
        command.add_arguments(parser)
        put_examples(parser, command.__doc__ or "")
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for verb, each in action.choices.items():
                    yield f"{name} {verb}", each


WORDS = dict(words())


@pytest.mark.parametrize("name", WORDS)
def test_each_word_has_its_examples(name: str) -> None:
    shown = WORDS[name].format_help()
    assert "examples:" in shown
    assert f"\n  relight {name}" in shown


@pytest.mark.parametrize("name", WORDS)
def test_the_examples_are_ones_that_it_takes(name: str) -> None:
    for line in (WORDS[name].epilog or "").splitlines()[1:]:
        asked = re.split(r"\s{2,}", line.strip(), maxsplit=1)[0].partition(" < ")[0]
        given = [re.sub(r"^(?:N)$", "1", word) for word in shlex.split(asked.replace("[", "").replace("]", ""))]
        WORDS[name].parse_args(given[len(f"relight {name}".split()) :])

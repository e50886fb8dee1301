"""Who somebody is, and why, is said by the same options in every command that asks for it."""

import argparse
from collections.abc import Iterator

import pytest

from console.main import COMMANDS, load
from console.naming import REASON, WHO

Option = tuple[str, frozenset[str]]


def options(parser: argparse.ArgumentParser, path: str) -> Iterator[Option]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from options(inner, f"{path} {name}")
        elif action.option_strings:
            yield path, frozenset(action.option_strings)


def every() -> list[Option]:
    found: list[Option] = []
    for name in COMMANDS:
        parser = argparse.ArgumentParser()
        load(name).add_arguments(parser)
        found += options(parser, name)
    return found


@pytest.mark.parametrize("words", [REASON, WHO])
def test_each_word_is_understood_wherever_one_of_them_is(words: tuple[str, ...]) -> None:
    asking = [(path, names) for path, names in every() if names & set(words)]
    assert len(asking) > 5
    assert [path for path, names in asking if not names >= set(words)] == []


def test_whoever_is_asked_why_may_say_who_it_is() -> None:
    found = every()
    asked = {path for path, names in found if names & set(REASON)}
    assert asked == {path for path, names in found if names & set(WHO)} - {"node run"}


def test_both_words_mean_one_thing() -> None:
    parser = argparse.ArgumentParser()
    load("incident").add_arguments(parser)
    first = parser.parse_args(["close", "4be1", "--reason", "seen to", "--by", "kim"])
    assert first == parser.parse_args(["close", "4be1", "--why", "seen to", "--edited-by", "kim"])

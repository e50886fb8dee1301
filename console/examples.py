"""The examples that a command's docstring tells, put into the help of each of its words.

Decides which example belongs where: by the words that it begins with. It must not know what they do.
"""

import argparse


def put_examples(parser: argparse.ArgumentParser, told: str) -> None:
    """Give each subcommand of *parser* those lines of *told* that begin with its name, below its options."""
    for words in _subcommands(parser):
        mine = [line.strip() for line in told.splitlines() if line.strip().startswith(f"{words.prog} ")]
        bare = [line.strip() for line in told.splitlines() if line.strip() == words.prog]
        if mine or bare:
            words.formatter_class = argparse.RawDescriptionHelpFormatter
            words.epilog = "\n  ".join(["examples:", *bare, *mine])


def _subcommands(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    tables = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]  # noqa: SLF001 - argparse tells of them nowhere else
    return [words for table in tables for words in table.choices.values()]

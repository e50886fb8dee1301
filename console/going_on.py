"""Which command goes on with what Ctrl-C has stopped, and which shows whether what was sent has been written.

Decides by the words: whatever `relight` does may be said again, and then does what is left. Where that is not all,
another command tells how it went. It must not know what was done so far.
"""

import argparse
import shlex
from collections.abc import Sequence

_SEE = {
    "stop": "`relight policy list` says NOTHING ACTS once it is so; to stop again does no harm",
    "start": "`relight policy list` says NOTHING ACTS as long as it is not so; to start again does no harm",
    "push": "`relight policy push … --dry-run` says what is left",
    "set-mode": "`relight policy show {name}`",
    "rollback": "`relight policy history {name}`",
    "run": "`relight node commands {node}`",
    "maintenance": "`relight node maintenance`",
    "redrive": "`relight dlq show {place}`",
    **dict.fromkeys(
        ("approve", "deny", "close", "verdict"), "`relight incident show {id}`; to say it again does no harm"
    ),
}
_ASKED = ("node", "run")
_PAST = ("policy", "backtest")
_RESUME = "--resume"
_PLACE = frozenset({"--stack", "--region"})
_FLAGS = frozenset({"--yes", "--json"})  # of `node run`; its other options take a value


def to_go_on(words: Sequence[str]) -> str:
    """Return what a person does next, with the command; *words* are those that were typed after `relight`."""
    again = f"`{shlex.join(['relight', *words])}`"
    first = tuple(words[:2])
    if first == _ASKED:
        see = f"`{shlex.join(['relight', 'node', 'commands', *_where(words[2:])])}`"
        return f"What was asked of the node goes on there: {see}. To ask once more: {again}."
    if first == _PAST and not any(word.partition("=")[0] == _RESUME for word in words):
        return f"It begins anew with {again}; with {_RESUME} DIR it goes on where it was."
    return f"To go on: {again}."


def with_mode(words: Sequence[str], mode: str) -> str:
    """Return the command of *words* with that `--mode`, to be pasted."""
    # Ahead of what was typed: behind a `--` it would be a file.
    return shlex.join(["relight", *words[:2], "--mode", mode, *words[2:]])


def to_see(asked: argparse.Namespace) -> str:
    """Return how a person sees whether what they *asked* for has been written; empty of what writes nothing."""
    words = vars(asked)
    return _SEE.get(str(words.get("action") or words.get("verb")), "").format(**words)


def _where(words: Sequence[str]) -> list[str]:
    """Return the node of `node run` (its first word that is neither an option nor the value of one) and its stack."""
    node, kept, option = "NODE", list[str](), ""
    for word in words:
        if option:
            kept += [option, word] if option in _PLACE else []
            option = ""
        elif word.startswith("-"):
            kept += [word] if word.partition("=")[0] in _PLACE and "=" in word else []
            option = "" if "=" in word or word in _FLAGS else word
        elif node == "NODE":
            node = word
    return [node, *kept]

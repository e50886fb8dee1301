"""The `relight` command: finds the command that was asked for and hands over.

It knows the names of the commands and where they live, and nothing they need: a command's module is imported only
when that command runs, so that `relight agent` on a GPU node never loads what the console or the embedded AWS need.
"""

import argparse
import codecs
import importlib
import os
import select
import sys
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from typing import Protocol, cast

from console.examples import put_examples
from console.going_on import to_go_on
from console.saying import say

COMMANDS: dict[str, str] = {
    "demo": "console.commands.demo",
    "agent": "console.commands.agent",
    "incident": "console.commands.incident",
    "node": "console.commands.node",
    "dlq": "console.commands.dlq",
    "policy": "console.commands.policy",
    "archive": "console.commands.archive",
    "checkpoints": "console.commands.checkpoints",
}
"""Command name -> module `console.commands.<name>`, which is a `Command`. The order is the order of the help."""

EXAMPLES = """\
examples:
  relight demo                                 a GPU falls off the bus on the embedded AWS, and the run goes on
  relight demo --report demo.json              the same, written down
  relight demo --hold                          the same, and its world stays open to practise on
  relight agent run                            watch this node and report its faults
  relight agent parse --text kernel.log        what the agent would make of these lines
  relight incident list                        what is being done, and what waits for you
  relight node run i-0abc collect_evidence     keep a node's logs, stacks and counters
  relight node maintenance i-0abc --for 2h     I work on it: nothing is done to it meanwhile
  relight dlq list                             what could not be handled, and why
  relight policy lint my-policies/             are these good? Their examples are run; nothing is changed
  relight policy explain --event event.json    why each policy did or did not fire for it
  relight policy stop --reason "bad image"     nothing acts any more, at once
  relight archive stats                        what the archive holds, day by day, and what is missing
  relight checkpoints inspect s3://bucket/run  which step a job would resume from, and why no newer one
"""

USAGE_ERROR = 2
READER_GONE = 141  # what a shell shows of a program that SIGPIPE ended
_LONGEST_NAME = 200
STOPPED = 130  # and of one that Ctrl-C ended
_INSTALL = "A node has what the agent needs only: run this where the repository is, after `make setup`."


class Command(Protocol):
    """What a module of `console.commands` offers. Its docstring's first line is its line in the help."""

    __doc__: str | None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's own arguments; called only when this command was named."""

    def run(self, args: argparse.Namespace) -> int:
        """Do it; the answer is the exit status: 0 done, 1 failed, 2 asked wrongly."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `relight` with these words (default: the process's own) and return its exit status.

    Whoever reads what it prints may have seen enough (`relight … | head`): that is no failure to show. Nor is Ctrl-C.
    """
    _have_streams()
    _print_anything()
    try:
        try:
            return _main(argv)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        if not _reader_has_gone():
            raise
        return READER_GONE
    except KeyboardInterrupt:
        say(f"\nrelight: stopped. What was done so far stays. {to_go_on(_words(argv))}", file=sys.stderr)
        return STOPPED


def _have_streams() -> None:
    """Have one that is closed (`2>&-`) take words and keep none: `print` would put a message where the answer goes."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - as long as the process lives


def _print_anything() -> None:
    """Have what the terminal cannot show written as escapes (a name, a dash where all is ASCII): JSON stays JSON."""
    codecs.register_error("relight", _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="relight")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2)), error.end


def _reader_has_gone() -> bool:
    """Whether standard output leads nowhere any more; what is left in it then goes nowhere in silence.

    The kernel is asked, not the stream: of a large write that failed nothing is left to try again.
    """
    ends = select.poll()
    ends.register(sys.stdout.fileno(), 0)  # POLLERR and POLLHUP are told unasked (poll(2))
    if not ends.poll(0):
        return False
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return True


def _main(argv: Sequence[str] | None) -> int:
    words = _words(argv)
    parser = _top_parser()
    args = parser.parse_args(words[:1])
    if args.command is None:
        parser.print_help()
        return USAGE_ERROR
    if args.command not in COMMANDS:
        say(_unknown(args.command), file=sys.stderr)
        return USAGE_ERROR
    return _run(args.command, words[1:])


def _words(argv: Sequence[str] | None) -> list[str]:
    return list(sys.argv[1:] if argv is None else argv)


def _top_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="relight",
        description="Keeps GPU training runs alive on AWS.",
        epilog=_listing() + EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"relight {version('relight')}")
    parser.add_argument("command", nargs="?", help="what to do; `relight COMMAND --help` tells more")
    return parser


def _listing() -> str:
    return f"commands: {', '.join(COMMANDS)}\n\n" if COMMANDS else ""


def _unknown(name: str) -> str:
    return f"relight: there is no command {name!r}. Run `relight --help` to see what there is."


def load(name: str) -> Command:
    """Import the module of this command; `name` is a key of `COMMANDS`."""
    return cast("Command", importlib.import_module(COMMANDS[name]))


def _run(name: str, words: Sequence[str]) -> int:
    command = load(name)
    parser = argparse.ArgumentParser(
        prog=f"relight {name}", description=command.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command.add_arguments(parser)
    put_examples(parser, command.__doc__ or "")
    try:
        return command.run(parser.parse_args(words, argparse.Namespace(typed=(name, *words))))
    except ModuleNotFoundError as error:  # on a node there are the agent's packages, and no more
        if not error.name or find_spec(error.name.partition(".")[0]):
            raise
        say(f"relight {name}: {error.name!r} is not installed here. {_INSTALL}", file=sys.stderr)
    except OSError as error:
        if not error.strerror or not isinstance(error.filename, str | Path):  # none of a person's: a defect of ours
            raise
        say(f"relight {name}: {_cut(str(error.filename))}: {error.strerror}.", file=sys.stderr)
    except Exception as error:
        told = _of_aws(error)
        if not told:
            raise
        say(f"relight {name}: {told}", file=sys.stderr)
    return 1


def _of_aws(error: Exception) -> str:
    """Return what AWS, or what speaks to it, refused; empty of anything else. On a node it is not even loaded."""
    if "botocore.exceptions" not in sys.modules:
        return ""
    from console.dlq.adapters.asking import refusal

    return refusal(error)


def _cut(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


if __name__ == "__main__":
    sys.exit(main())

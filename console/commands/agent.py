"""Watch this node and report its faults; show what the agent makes of log lines; check that it can work here.

relight agent run --config agent.toml      run until SIGTERM; every setting also as RELIGHT_AGENT_<NAME>
relight agent parse < records.jsonl        {"id": 1, "record": "NVRM: Xid ..."} a line -> its events, a line each
relight agent parse --text kernel.log      the same for plain lines
relight agent check                        what works here, what does not, and what to do about it
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

FAILED, USAGE_ERROR = 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, text in (("run", "watch this node"), ("check", "try what it needs")):
        action = actions.add_parser(name, help=text)
        action.add_argument(
            "--config", type=Path, help="settings as TOML; RELIGHT_AGENT_<NAME> in the environment wins"
        )
    parse = actions.add_parser("parse", help="show what it makes of log lines")
    parse.add_argument(
        "--text", type=Path, metavar="FILE", help="plain lines of FILE (- is stdin) instead of JSON lines"
    )
    parse.add_argument("--training-log", action="store_true", help="lines of a training rank's log, not of a kernel's")


def run(args: argparse.Namespace) -> int:
    """Do what was asked; the answer is the exit status."""
    if args.action == "parse":
        return _parse(args)
    return _check(args) if args.action == "check" else _run(args)


def _run(args: argparse.Namespace) -> int:
    from agent.main import run_process

    return run_process(args.config)


def _check(args: argparse.Namespace) -> int:
    import os

    from agent.check import check_node

    status = 0
    for result in check_node(args.config, os.environ):
        print(f"{'ok  ' if result.ok else 'FAIL'}  {result.name:<13} {result.found}", flush=True)
        if not result.ok:
            status = FAILED
            print(f"{'':>20}{result.hint}")
    return status


def _parse(args: argparse.Namespace) -> int:
    from agent.parse import kernel_sightings, parse_json_lines, parse_text_lines, training_sightings
    from policies.contract.errors import BadInputError

    sightings = training_sightings if args.training_log else kernel_sightings
    try:
        file = _opened(args.text)
    except OSError as error:
        print(f"relight agent parse: {args.text} cannot be read: {error.strerror}. Name a file.", file=sys.stderr)
        return USAGE_ERROR
    lines = _lines(file)
    status = 0
    for answer in parse_text_lines(lines, sightings) if args.text else parse_json_lines(lines, sightings):
        if isinstance(answer, BadInputError):
            print(f"relight agent parse: {answer}", file=sys.stderr)
            status = FAILED
        else:
            print(answer, flush=True)
    return status


def _opened(path: Path | None) -> BinaryIO:
    return sys.stdin.buffer if path is None or str(path) == "-" else path.open("rb")


def _lines(file: BinaryIO) -> Iterator[str]:
    """Return the lines of *file*, split at newlines alone; bytes that are no UTF-8 are replaced."""
    with file:
        for line in file:
            yield line.decode("utf-8", "replace")

"""Watch this node and report its faults; say how the agent is, try what it needs, show what it makes of log lines.

relight agent run --config agent.toml      run until SIGTERM; every setting also as RELIGHT_AGENT_<NAME>
relight agent parse < records.jsonl        {"id": 1, "record": "NVRM: Xid ..."} a line -> its events, a line each
relight agent parse --text kernel.log      the same for plain lines
relight agent status                       how the agent that runs here is: sources, spool, lanes
relight agent check                        what works here, what does not, and what to do about it
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from console.saying import say

FAILED, USAGE_ERROR = 1, 2
_SOCKET = "/run/relight/agent.sock"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, text in (("run", "watch this node"), ("check", "try what it needs")):
        action = actions.add_parser(name, help=text)
        action.add_argument(
            "--config", type=Path, help="settings as TOML; RELIGHT_AGENT_<NAME> in the environment wins"
        )
        if name == "check":
            action.add_argument("--json", action="store_true", help="a list of JSON instead of lines")
    status = actions.add_parser("status", help="say how the agent that runs here is")
    status.add_argument("--socket", default=_SOCKET, metavar="PATH", help=f"its status socket (default {_SOCKET})")
    status.add_argument("--json", action="store_true", help="what it says as JSON instead of lines")
    parse = actions.add_parser("parse", help="show what it makes of log lines")
    parse.add_argument(
        "--text", type=Path, metavar="FILE", help="plain lines of FILE (- is stdin) instead of JSON lines"
    )
    parse.add_argument("--training-log", action="store_true", help="lines of a training rank's log, not of a kernel's")


def run(args: argparse.Namespace) -> int:
    """Do what was asked; the answer is the exit status."""
    return {"run": _run, "check": _check, "status": _status, "parse": _parse}[args.action](args)


def _run(args: argparse.Namespace) -> int:
    from agent.main import run_process

    return run_process(args.config)


def _status(args: argparse.Namespace) -> int:
    import json

    from agent.status.client import status
    from agent.status.show import lines
    from policies.contract.errors import DependencyError

    try:
        report = status(args.socket)
    except DependencyError as error:
        say(f"relight agent status: {error.message} {error.hint}", file=sys.stderr)
        return FAILED
    for line in [json.dumps(report, indent=1)] if args.json else lines(report):
        say(line)
    return 0 if report["healthy"] else FAILED


def _check(args: argparse.Namespace) -> int:
    import os

    from agent.check import check_node
    from agent.check_show import as_json, lines

    results = check_node(args.config, os.environ)
    if args.json:
        told = as_json(results)
        print(told.text)
        return told.status
    status = 0
    for line in lines(results):
        say(line.text)
        sys.stdout.flush()  # the next check may take seconds
        status |= line.status
    return status


def _parse(args: argparse.Namespace) -> int:
    from agent.parse import kernel_sightings, parse_json_lines, parse_text_lines, training_sightings
    from policies.contract.errors import BadInputError

    sightings = training_sightings if args.training_log else kernel_sightings
    try:
        file = _opened(args.text)
    except OSError as error:
        say(f"relight agent parse: {args.text} cannot be read: {error.strerror}. Name a file.", file=sys.stderr)
        return USAGE_ERROR
    lines = _lines(file)
    status = 0
    for answer in parse_text_lines(lines, sightings) if args.text else parse_json_lines(lines, sightings):
        if isinstance(answer, BadInputError):
            say(f"relight agent parse: {answer}", file=sys.stderr)
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

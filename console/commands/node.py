"""Ask a node's agent for an operation, and see what was asked of it.

  relight node run i-0abc collect_evidence                      keep logs, stacks and counters
  relight node run i-0abc request_save --param token=7          ask its ranks for a checkpoint now
  relight node run i-0abc reset_gpu --param gpus=0000:4b:00     reset one GPU that no process holds
  relight node run i-0abc restart_process --param pid=4711      end a training process; its launcher starts it again
  relight node run i-0abc burn_in --param level=2 --wait 900    let DCGM test the GPUs
  relight node commands i-0abc                                  what was asked within a week, and how it went

A node is an instance id, its ARN or the node's name. What its agent does not allow is refused. A name that is given
again is one more of a list. Exit status: 0 done, 1 not done, 2 asked wrongly.
"""

import argparse
import os
import sys
from typing import TYPE_CHECKING

from console.stack_commands import DEFAULT_STACK, agrees, told

if TYPE_CHECKING:
    from console.node.parts import Parts
    from console.node.screen import Screen

_WAIT = 300.0
_FAILED, _ASKED_WRONGLY = 1, 2
_OPERATIONS = ("collect_evidence", "request_save", "reset_gpu", "restart_process", "restart_service", "burn_in")
_HARMLESS = ("collect_evidence", "request_save")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the two subcommands."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--stack", default=DEFAULT_STACK, help=f"the CloudFormation stack ({DEFAULT_STACK})")
    common.add_argument("--region", help="the AWS region (default: AWS_REGION, or that of your profile)")
    common.add_argument("--json", action="store_true", help="JSON on standard output, for machines")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="run|commands")
    run_it = verbs.add_parser("run", parents=[common], help="ask for one operation and wait for its end")
    listing = verbs.add_parser("commands", parents=[common], help="what was asked, newest first")
    for verb in (run_it, listing):
        verb.add_argument("node", metavar="NODE", help="instance id, its ARN, or the node's name")
    run_it.add_argument("operation", metavar="OPERATION", choices=_OPERATIONS, help=", ".join(_OPERATIONS))
    run_it.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="a parameter of it")
    run_it.add_argument("--by", default=os.environ.get("USER") or "unknown", help="who you are")
    run_it.add_argument("--yes", action="store_true", help="do not ask")
    run_it.add_argument("--wait", type=float, default=_WAIT, metavar="SECONDS", help=f"for its end ({_WAIT:g})")


def run(args: argparse.Namespace) -> int:
    """Do it; AWS is asked under the credentials of the environment."""
    from console.node.wiring import connect

    return told("node", lambda: perform(args, connect(args.stack, args.region)))


def perform(args: argparse.Namespace, parts: "Parts") -> int:
    """Do it with these parts; RelightError when it cannot be done."""
    from console.node.screen import Screen

    screen = Screen(as_json=args.json, now=parts.clock())
    node = parts.node(args.node)
    if args.verb == "commands":
        screen.list(parts.commands.all_of(node))
        return 0
    return _run(args, parts, screen, node)


def _run(args: argparse.Namespace, parts: "Parts", screen: "Screen", node: str) -> int:
    from console.node.asking import draft, follow, read_params
    from policies.contract.commands.command import CommandStatus
    from policies.contract.commands.operations import Operation

    operation = Operation(args.operation)
    command = draft(parts, node, operation, read_params(operation, args.param), args.by)
    screen.before(command)
    if operation not in _HARMLESS and not args.yes:
        if not sys.stdin.isatty():
            print("relight node: nobody is here to ask. Say --yes.", file=sys.stderr)
            return _ASKED_WRONGLY
        if not agrees("Do it?"):
            print("relight node: nothing was asked.", file=sys.stderr)
            return _FAILED
    record = follow(parts, command, args.wait, screen.progress)
    screen.ended(record)
    return 0 if record.status is CommandStatus.DONE else _FAILED

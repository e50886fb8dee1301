"""Ask a node's agent for an operation, see what was asked of it, and take a node in hand.

  relight node run i-0abc collect_evidence                      keep logs, stacks and counters
  relight node run i-0abc request_save --param token=7          ask its ranks for a checkpoint now
  relight node run i-0abc reset_gpu --param gpus=0000:4b:00     reset one GPU that no process holds
  relight node run i-0abc restart_process --param pid=4711      end a training process; its launcher starts it again
  relight node run i-0abc burn_in --param level=2 --wait 900    let DCGM test the GPUs
  relight node commands i-0abc                                  what was asked within a week, and how it went
  relight node maintenance i-0abc --for 2h --why "new NIC"      I work on it: nothing is done to it meanwhile
  relight node maintenance i-0abc --end                         I am done
  relight node maintenance                                      who has which nodes in hand, and until when

A node is an instance id, its ARN or the node's name. What its agent does not allow is refused. A name that is given
again is one more of a list. Exit status: 0 done, 1 not done, 2 asked wrongly.
"""

import argparse
import sys
from typing import TYPE_CHECKING

from console.naming import add_reason, add_who
from console.saying import say
from console.stack_commands import DEFAULT_STACK, agrees, told
from console.values import seconds

if TYPE_CHECKING:
    from console.node.parts import Parts
    from console.node.screen import Screen

_WAIT = 300.0
_HANDS = "2h"
_NODE = "instance id, its ARN, or the node's name"
_FAILED, _ASKED_WRONGLY = 1, 2
_OPERATIONS = ("collect_evidence", "request_save", "reset_gpu", "restart_process", "restart_service", "burn_in")
_HARMLESS = ("collect_evidence", "request_save")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the three subcommands."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--stack", default=DEFAULT_STACK, help=f"the CloudFormation stack ({DEFAULT_STACK})")
    common.add_argument("--region", help="the AWS region (default: AWS_REGION, or that of your profile)")
    common.add_argument("--json", action="store_true", help="JSON on standard output, for machines")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="run|commands|maintenance")
    run_it = verbs.add_parser("run", parents=[common], help="ask for one operation and wait for its end")
    listing = verbs.add_parser("commands", parents=[common], help="what was asked, newest first")
    in_hand = verbs.add_parser("maintenance", parents=[common], help="take a node in hand, let it go, or list them")
    for verb in (run_it, listing):
        verb.add_argument("node", metavar="NODE", help=_NODE)
    in_hand.add_argument("node", metavar="NODE", nargs="?", help=f"{_NODE}; none: list them")
    in_hand.add_argument("--for", dest="ahead", default=_HANDS, metavar="TIME", help=f"for how long ({_HANDS})")
    add_reason(in_hand, "what you do there, for whoever reads of it")
    in_hand.add_argument("--end", action="store_true", help="let it go now")
    in_hand.add_argument("--cluster", default="", help="its cluster, if its tag relight:cluster does not say it")
    run_it.add_argument("operation", metavar="OPERATION", choices=_OPERATIONS, help=", ".join(_OPERATIONS))
    run_it.add_argument("--param", action="append", default=[], metavar="NAME=VALUE", help="a parameter of it")
    for verb in (run_it, in_hand):
        add_who(verb)
    run_it.add_argument("--yes", action="store_true", help="do not ask")
    run_it.add_argument("--wait", type=seconds, default=_WAIT, metavar="SECONDS", help=f"for its end ({_WAIT:g})")


def run(args: argparse.Namespace) -> int:
    """Do it; AWS is asked under the credentials of the environment."""
    from console.node.wiring import connect

    return told("node", args, lambda: perform(args, connect(args.stack, args.region)))


def perform(args: argparse.Namespace, parts: "Parts") -> int:
    """Do it with these parts; RelightError when it cannot be done."""
    from console.node.screen import Screen

    screen = Screen(as_json=args.json, now=parts.clock())
    if args.verb == "maintenance":
        return _maintenance(args, parts, screen)
    node = parts.node(args.node)
    if args.verb == "commands":
        found = parts.commands.all_of(node)
        screen.list(found, silent="" if found or parts.commands.taken(node, screen.now) else args.node)
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
            say("relight node: nobody is here to ask. Say --yes.", file=sys.stderr)
            return _ASKED_WRONGLY
        if not agrees("Do it?"):
            say("relight node: nothing was asked.", file=sys.stderr)
            return _FAILED
    record = follow(parts, command, args.wait, screen.progress)
    screen.ended(record)
    return 0 if record.status is CommandStatus.DONE else _FAILED


def _maintenance(args: argparse.Namespace, parts: "Parts", screen: "Screen") -> int:
    from console.node.maintenance import MOST_WHY, everyone, let_go, take, until
    from policies.facts.maintenance import Maintenance

    if args.node is None:
        if args.end:
            say("relight node: --end which node?", file=sys.stderr)
            return _ASKED_WRONGLY
        screen.in_hand(everyone(parts, args.cluster))
    elif args.end:
        screen.let_go(let_go(parts, args.node, args.cluster, args.by))
    else:
        now = parts.clock()
        words = Maintenance(until=until(now, args.ahead), since=now, by=args.by, why=args.reason.strip()[:MOST_WHY])
        screen.taken(take(parts, args.node, args.cluster, words))
    return 0

"""Show what could not be handled and why, and send it again once the cause is mended.

  relight dlq list                             every dead-letter queue, the rejects by reason, given-up batches
  relight dlq show decisions-dlq               the messages and why they died, without taking them
  relight dlq show rejects --id 4be1           one rejected record, whole
  relight dlq redrive rejects --dry-run        what would be sent, and what is still unusable
  relight dlq redrive decisions-dlq --yes      back to the decisions queue
  relight dlq redrive failures --yes           batches that a mapping gave up, back onto the stream

NAME is a queue of the list, `rejects` (records triage could not use) or `failures` (batches a mapping gave up).
Task tokens and other secrets are never printed. Exit status: 0 done, 1 something is left or failed, 2 asked wrongly.
"""

import argparse
import sys
from typing import TYPE_CHECKING

from console.saying import say
from console.stack_commands import agrees, common_options, told
from console.values import positive

if TYPE_CHECKING:
    from console.dlq.parts import Parts
    from console.dlq.screen import Screen

_FAILED, _ASKED_WRONGLY = 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the three subcommands."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="list|show|redrive")
    common = common_options("rejects")
    verbs.add_parser("list", parents=[common], help="what lies where, since when, and why")
    show = verbs.add_parser("show", parents=[common], help="the items of one place, without taking them")
    redrive = verbs.add_parser("redrive", parents=[common], help="send them again")
    for verb in (show, redrive):
        verb.add_argument("place", metavar="NAME", help="a queue of the list, `rejects` or `failures`")
        verb.add_argument("--id", default="", help="only this one; the first characters of its id do")
    show.add_argument("--most", type=positive, default=10, metavar="N", help="show at most so many (10)")
    redrive.add_argument("--dry-run", action="store_true", help="say what would be sent, and send nothing")
    redrive.add_argument("--yes", action="store_true", help="do not ask")
    redrive.add_argument("--again", action="store_true", help="also what was redriven before")


def run(args: argparse.Namespace) -> int:
    """Do it; AWS is asked under the credentials of the environment."""
    from console.dlq.wiring import connect

    return told("dlq", args, lambda: perform(args, connect(args.stack, args.region)))


def perform(args: argparse.Namespace, parts: "Parts") -> int:
    """Do it with these parts; RelightError when it cannot be done."""
    from console.dlq.screen import Screen
    from console.dlq.showing import show

    screen = Screen(as_json=args.json, now=parts.clock())
    if args.verb == "list":
        screen.overview(parts.looker.overview(args.days))
        return 0
    if args.verb == "show":
        screen.items(args.place, show(parts, args.place, wanted=args.id, most=args.most, days=args.days))
        return 0
    return _redrive(args, parts, screen)


def _redrive(args: argparse.Namespace, parts: "Parts", screen: "Screen") -> int:
    from console.dlq.redriving import Redriving, Wish

    if not (args.yes or args.dry_run or sys.stdin.isatty()):
        say("relight dlq: nobody is here to ask. Look with --dry-run, then say --yes.", file=sys.stderr)
        return _ASKED_WRONGLY
    wish = Wish(args.place, args.id, args.days, args.dry_run, args.again)
    agree = (lambda _question: True) if args.yes else agrees
    outcomes, left_out = Redriving(parts, agree, screen.progress).carry_out(wish)
    screen.outcomes(args.place, outcomes, left_out)
    return _FAILED if any(one.is_left for one in outcomes) else 0

"""Show what Relight is doing about which node, answer what asks first, close and judge what a person has seen to.

  relight incident list                         what is open: parked ones wait for you
  relight incident list --closed --node i-0abc  the whole history of one instance
  relight incident show 4be1                    one incident: timeline, facts, why it stands so, what you do next
  relight incident approve 4be1                 let a policy act that asks first
  relight incident deny 4be1 --reason "a test" --for 12h  or not: it closes, and nobody is asked again for so long
  relight incident deny 4be1 --reason "it is over" --for 0  ask again from now on
  relight incident close 4be1 --reason "fixed"  let its node, its run and its budgets go
  relight incident verdict 4be1 healthy --why "it passed every test"  how its hardware was (faulty; unknown takes back)
  relight incident verdict 4be1 missed --policy NAME                  who ought to have found it before

An id may be cut as long as it names one alone. Closing undoes nothing in the world: cordon, taint and a stopped run are
yours. Exit status: 0 done, 1 not done, 2 asked wrongly.
"""

import argparse
import sys
from typing import TYPE_CHECKING

from console.naming import add_reason, add_who
from console.saying import say
from console.stack_commands import agrees, common_options, told
from console.values import seconds, span

if TYPE_CHECKING:
    from console.incident.parts import Parts
    from console.incident.screen import Screen

_WAIT = 100.0
_LEAST, _MOST = 60.0, 7 * 86400.0  # a no is no edit of the policy
_FAILED, _ASKED_WRONGLY = 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="list|show|approve|deny|close|verdict")
    common = common_options("closed ones")
    listing = verbs.add_parser("list", parents=[common], help="open incidents, last changed first")
    listing.add_argument("--closed", action="store_true", help="closed ones too")
    listing.add_argument("--node", default="", metavar="NODE", help="of this instance id or node name")
    listing.add_argument("--job", default="", metavar="JOB", help="of this run")
    listing.add_argument("--cluster", default="", metavar="CLUSTER", help="of this cluster")
    show = verbs.add_parser("show", parents=[common], help="one incident, whole")
    approve = verbs.add_parser("approve", parents=[common], help="let a policy act that asks first")
    deny = verbs.add_parser("deny", parents=[common], help="close one whose policy asks first")
    close = verbs.add_parser("close", parents=[common], help="close one that a person has seen to")
    verdict = verbs.add_parser("verdict", parents=[common], help="say what it was, once that is known")
    for verb in (show, approve, deny, close, verdict):
        verb.add_argument("id", metavar="ID", help="the incident's id; its first characters do")
    add_reason(approve, "why, for whoever looks later")
    add_reason(deny, "why not", required=True, type=_text)
    kept = "for how long it holds, 1m to 7d (4h); 0: not at all, or no more"
    deny.add_argument("--for", dest="ahead", type=span(_LEAST, _MOST), metavar="TIME", help=kept)
    add_reason(close, "what you found and did", required=True, type=_text)
    words = ["faulty", "healthy", "missed", "unknown"]
    verdict.add_argument("verdict", choices=words, help="how its hardware was; missed: by --policy; unknown takes back")
    verdict.add_argument("--policy", default="", metavar="NAME", help="which policy ought to have found it")
    add_reason(verdict, "how you know, for whoever looks later")
    for verb in (approve, deny, close):
        verb.add_argument("--yes", action="store_true", help="do not ask")
    for verb in (approve, deny, close, verdict):
        add_who(verb, type=_text)
        verb.add_argument("--wait", type=seconds, default=_WAIT, metavar="SECONDS", help=f"for the answer ({_WAIT:g})")


def run(args: argparse.Namespace) -> int:
    """Do it; AWS is asked under the credentials of the environment."""
    from console.incident.wiring import connect

    return told("incident", args, lambda: perform(args, connect(args.stack, args.region)))


def perform(args: argparse.Namespace, parts: "Parts") -> int:
    """Do it with these parts; RelightError when it cannot be done."""
    from console.incident.finding import Wish, find_all, find_one, unheard
    from console.incident.screen import Screen

    screen = Screen(as_json=args.json, now=parts.clock())
    if args.verb == "list":
        wish = Wish(args.closed, args.node, args.job, args.cluster, args.days)
        found = find_all(parts, wish)
        screen.list(found, closed=args.closed, unheard=() if found else unheard(parts, wish))
        return 0
    if args.verb == "show":
        screen.show(find_one(parts, args.id, args.days))
        return 0
    if args.verb == "verdict":
        return _judge(args, parts, screen)
    if not (args.yes or sys.stdin.isatty()):
        say("relight incident: nobody is here to ask. Look with show, then say --yes.", file=sys.stderr)
        return _ASKED_WRONGLY
    return _close(args, parts, screen) if args.verb == "close" else _answer(args, parts, screen)


def _answer(args: argparse.Namespace, parts: "Parts", screen: "Screen") -> int:
    from console.incident.advising import ways_back
    from console.incident.approving import Answering, answer, asked, is_refused
    from console.incident.finding import find_one
    from policies.coordination.approving import may_be_denied, waits_for_approval

    approved = args.verb == "approve"
    ahead: float | None = None if approved else args.ahead
    found = find_one(parts, args.id, args.days)
    incident = found if approved else asked(parts, found)
    anew = not approved and may_be_denied(incident) and (ahead is not None or not is_refused(incident, screen.now))
    if anew or waits_for_approval(incident):
        screen.before_answer(incident)
        if not (args.yes or agrees("Approve it?" if approved else "Deny it?")):
            say("relight incident: nothing was sent.", file=sys.stderr)
            return _FAILED
        incident = answer(parts, incident, Answering(approved, args.by, args.reason, args.wait, ahead))
    elif not (incident.approved_by if approved else incident.outcome == "denied"):
        told = f"relight incident: {incident.id} waits for no approval: it is {incident.status}."
        say(" ".join((told, *ways_back(incident))), file=sys.stderr)
        return _FAILED
    screen.answered(incident)
    done = bool(incident.approved_by) if approved else incident.outcome == "denied"
    return 0 if done else _FAILED


def _close(args: argparse.Namespace, parts: "Parts", screen: "Screen") -> int:
    from console.incident.closing import Closing, close
    from console.incident.finding import find_one

    incident = find_one(parts, args.id, args.days)
    if not incident.status.is_open:
        screen.closed(incident, incident)
        return 0
    screen.before_close(incident)
    if not (args.yes or agrees("Close it?")):
        say("relight incident: nothing was sent.", file=sys.stderr)
        return _FAILED
    screen.closed(close(parts, incident, Closing(args.by, args.reason, args.wait)), incident)
    return 0


def _judge(args: argparse.Namespace, parts: "Parts", screen: "Screen") -> int:
    from console.incident.finding import find_one
    from console.incident.judging import Judging, judge

    if (args.verdict == "missed") != bool(args.policy) and args.verdict != "unknown":
        told = "missed wants --policy NAME, who ought to have found it; the other words are said of hardware."
        say(f"relight incident: {told}", file=sys.stderr)
        return _ASKED_WRONGLY
    incident = find_one(parts, args.id, args.days)
    screen.judged(judge(parts, incident, Judging(args.verdict, args.by, args.reason, args.policy, args.wait)))
    return 0


def _text(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty")
    return text

"""Read, check, explain and put policies: what an operator edits, what is in force, and what the guard said.

  relight policy lint FILE_OR_DIR...          every mistake with its line and a way out; nothing is changed
  relight policy lint my-policies/ --strict   fail for a warning as well (--json: for machines)
  relight policy test FILE_OR_DIR...          run the examples, and say of each that fails why
  relight policy list                         every policy of the table: mode, revision, verdict on the last edit
  relight policy list my-policies/ --json     those of a folder: kinds, actions, limits, examples, problems
  relight policy show NAME                    one policy as it is in force, and what is wrong with its last edit
  relight policy show NAME --revision 3       as it was
  relight policy history NAME                 its revisions: who, when, why, what changed
  relight policy diff my-policies/            files against the table, field by field (exit 1: they differ)
  relight policy diff NAME --revision 3..5    two revisions; without --revision: the item and what is in force
  relight policy kinds                        every kind of event there is: how bad, of which part (no account needed)
  relight policy kinds gpu.ecc_uncorrected    one kind: its attributes with their units, and who asks for it
  relight policy explain --event event.json   why each policy did or did not fire for it; no account is needed
  relight policy explain --event event.json --policies current    the same by the policies in force, those of the table
  relight policy explain --incident 4be1      the same for what an incident is about, and which limit holds it
  relight policy explain --node i-0ab --last  the same for the newest incident of a node
  relight policy backtest --events DIR        the archived past under other policies: what would be done, what differs
  relight policy backtest --events DIR --policies my-policies/ --against current --jobs 8    side by side, the same sums
  relight policy record 4be1                  an example of what happened then, without names (--events: every event)
  relight policy record 4be1 --write FILE     tried at once, and appended to that policy's examples
  relight policy report                       what policies in shadow would have done this week, and which to arm first
  relight policy pull --to my-policies/       what stands in the table as files; a file that was edited stays
  relight policy push my-policies/ --dry-run  what would change, field by field
  relight policy push my-policies/            write them as live items; the guard puts good ones into force
  relight policy push my-policies/ --prune    and turn off what was pushed from this folder and is no more in it
  relight policy push DIR --mode shadow       the same, but none of them acts yet
  relight policy push DIR --mode keep         each in the mode that it has in the table; new ones as their file says
  relight policy push DIR --backtest s3://…   not before the last week was told again with it (--most-new-acts 3)
  relight policy rollback NAME                back to the revision before (--to N: to that one), byte for byte
  relight policy set-mode NAME active         one policy: active, shadow or off; ends the shadow it put itself in
  relight policy stop --reason "bad image"    nothing acts any more, whatever the policies say; at once
  relight policy start                        policies act again as they say

The table is that of the stack (--stack), if POLICIES_TABLE or --table names none. Without FILE_OR_DIR, lint, test and
push take the policies that come along. A push writes over nobody's edit: what somebody changed in the table since the
folder last saw it (`.relight-table.json` beside the files) is shown, and nothing is written; pull first, or --force.
Nor does it disarm anybody by what came along in a file: where active policies would stop, it asks for a --mode. An
event is an envelope or an event of an agent as JSON (- reads standard input), or a few words: {"kind": "gpu.xid",
"attributes": {"xid": 79}}. Exit status: 0 done, 1 not, 2 asked wrongly.
Each prints one document with --json, those that write too: of each policy what was written, the guard's verdict with
its problems, and what is left (`done` says what exit status 0 does).
"""

import argparse
import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from console.backtest.arguments import add_arguments as add_backtest
from console.policy import table_commands
from console.policy.complaining import complain
from console.record.arguments import add_arguments as add_record
from console.report.arguments import add_arguments as add_report
from console.stack_commands import DEFAULT_STACK, POLICIES_TABLE, common_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from console.policy.judges import Judges
    from console.policy.pushing import Gate
    from console.policy.rehearsing import Rehearsal
    from functions.adapters.policies import DynamoPolicies

# Each is a room of its own, loaded once it is asked for.
ROOMS = {name: f"console.{name}.running" for name in ("backtest", "record", "report")}
_PATHS = "a policy, or a folder of policies (default: those that come along)"
SHIPPED = Path(__file__).resolve().parents[2] / "policies" / "shipped"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, text in (("lint", "check policies"), ("test", "run the examples of policies")):
        action = actions.add_parser(name, help=text)
        action.add_argument("paths", nargs="*", type=Path, metavar="FILE_OR_DIR", default=[SHIPPED], help=_PATHS)
        action.add_argument("--json", action="store_true", help="JSON on standard output, for machines")
        if name == "lint":
            action.add_argument("--strict", action="store_true", help="fail for a warning as well")
    kinds = actions.add_parser("kinds", help="the kinds of event that a policy may ask for")
    kinds.add_argument("kind", nargs="?", default="", metavar="KIND", help="one kind, or how several begin: gpu.ecc")
    kinds.add_argument("--json", action="store_true", help="JSON on standard output, for machines")
    _add_explain(actions.add_parser("explain", parents=[common_options("incidents")], help="why policies fired or not"))
    add_backtest(actions.add_parser("backtest", help="the archived past under other policies"))
    add_record(actions.add_parser("record", parents=[common_options("incidents")], help="an incident as an example"))
    week = common_options("cases", 7)
    add_report(actions.add_parser("report", parents=[week], help="what policies in shadow would have done"))
    table_commands.add_arguments(actions.add_parser, SHIPPED, _PATHS)


def _add_explain(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--event", metavar="FILE", help="an envelope, an event or some words of one, as JSON; - is stdin")
    what.add_argument("--incident", metavar="ID", help="what this incident is about; the id's first characters do")
    what.add_argument("--node", metavar="NODE", help="the incidents of this instance id or node name")
    parser.add_argument("--last", action="store_true", help="with --node: the newest of them, explained")
    judges = f"with --event: {_PATHS}; `current`: those in force in the table"
    parser.add_argument("--policies", nargs="*", type=Path, metavar="DIR", help=judges)
    parser.add_argument("--table", help="with --event: by the policies in force in this table")
    parser.set_defaults(stack=None)
    parser.add_argument(
        "--state", default="", metavar="FILE", help="with --event: the node's state (`doc` of its window)"
    )
    parser.add_argument("--instance-type", default="p5.48xlarge", help="of an event without envelope (p5.48xlarge)")
    parser.add_argument("--driver-version", default="", help="NVIDIA's, of an event without envelope (unknown)")
    parser.add_argument(
        "--fact", action="append", default=[], metavar="NAME=VALUE", help="with --event: node.lemon_score=72; again"
    )
    parser.add_argument("--policy", default="", metavar="NAME", help="only this one")
    parser.add_argument("--all", action="store_true", help="those too that ask for something else")


def run(args: argparse.Namespace) -> int:
    """Do what was asked; the answer is the exit status."""
    from policies.contract.errors import RelightError

    try:
        if args.action in {"lint", "test"} or (args.action == "list" and args.paths):
            return _of_files(args)
        if args.action == "kinds":
            from console.policy.kinds import tell_kinds

            return tell_kinds(args.kind, SHIPPED, as_json=args.json)
        if args.action == "explain":
            return _explain(args)
        if args.action in ROOMS:
            return int(import_module(ROOMS[args.action]).run(args))
        return _of_table(args)
    except RelightError as error:
        from console.asked_wrongly import ASKED_WRONGLY, status_of
        from console.dlq.adapters.asking import advice
        from console.going_on import to_see

        complain(f"{error.message} {advice(error, to_see(args))}".strip())
        # 1 is an answer of `diff`, that they differ: of what it could not read it says nothing of the kind.
        return ASKED_WRONGLY if args.action == "diff" else status_of(error)


def _of_files(args: argparse.Namespace) -> int:
    from console.policy.files import NO_FILES, files_of

    files = files_of(args.paths)
    if not files:
        return complain(NO_FILES)
    if args.action == "lint":
        from console.policy.linting import lint_files

        return lint_files(files, as_json=args.json, strict=args.strict)
    if args.action == "test":
        from console.policy.testing import run_examples

        return run_examples(files, as_json=args.json)
    from console.policy.listing import list_files

    return list_files(files, as_json=args.json)


def _explain(args: argparse.Namespace) -> int:
    from console.policy import explaining
    from console.policy.screen import Wanted

    wanted = Wanted(as_json=args.json, policy=args.policy, every=args.all)
    if args.event:
        asked = explaining.Offline(args.event, args.state, args.instance_type, args.fact, args.driver_version)
        return explaining.offline(asked, _judges(args), wanted)
    from console.policy.account import connect

    account = connect(args.stack or DEFAULT_STACK, args.region)
    if args.incident:
        return explaining.of_incident(account, args.incident, args.days, wanted)
    return explaining.of_node(account, args.node, args.days, wanted, last=args.last)


def _judges(args: argparse.Namespace) -> "Judges":
    """Return who judges an event: files, unless the table is asked for."""
    from console.asked_wrongly import AskedWronglyError
    from console.policy.judges import CURRENT, of_files
    from console.policy.whereabouts import judges_at

    current = args.policies == [Path(CURRENT)] or (args.policies is None and bool(args.table))
    if args.table and not current:
        told = "--table asks for the policies in force, and --policies for those of files."
        raise AskedWronglyError(told, hint="Leave one of them out.")
    if current:
        return judges_at(args.table, args.stack, os.environ.get(POLICIES_TABLE), args.region)
    return of_files([SHIPPED] if args.policies is None else args.policies)


def _of_table(args: argparse.Namespace) -> int:
    return table_commands.run(args, _policies(args), _gates(args))


def _gates(args: argparse.Namespace) -> "Sequence[Gate]":
    """Return who may refuse a push before anything is written."""
    if args.action != "push" or not args.backtest:
        return ()
    from datetime import UTC, datetime
    from functools import partial

    from console.backtest.running import watched
    from console.policy.rehearsing import gate_of
    from functions.triage.collector import calm_collector

    calm_collector()
    return (gate_of(rehearsal_of(args), watched, partial(datetime.now, UTC)),)


def rehearsal_of(args: argparse.Namespace) -> "Rehearsal":
    """Return how a push is rehearsed as *args* ask; RelightError when there is no such archive."""
    from functools import partial

    from console.archive.time_scale import time_scale_of
    from console.archive.whereabouts import reader_of
    from console.backtest.arguments import GPU_HOUR_PRICE
    from console.backtest.jobs import jobs_of
    from console.policy.rehearsing import Rehearsal
    from policies.contract.vocabulary import Orchestrator

    return Rehearsal(
        reader_of(args.backtest, args.region),
        args.backtest,
        args.backtest_days,
        args.most_new_acts,
        GPU_HOUR_PRICE,
        Orchestrator(args.orchestrator),
        args.time_scale or time_scale_of(args.backtest),
        *jobs_of(args.jobs),
        partial(reader_of, args.backtest, args.region),
    )


def _policies(args: argparse.Namespace) -> "DynamoPolicies":
    from console.policy.whereabouts import policies_at

    return policies_at(args.table, args.stack, os.environ.get(POLICIES_TABLE), args.region)

"""The words of `relight policy` that speak to the table: which there are, and who carries each out."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from console.backtest.arguments import add_archive
from console.naming import add_reason, add_who
from console.policy.answering import Answer, answered
from console.stack_commands import DEFAULT_STACK, POLICIES_TABLE
from console.values import days, positive, seconds, whole_number

if TYPE_CHECKING:
    from console.policy.pushing import Gate
    from functions.adapters.policies import DynamoPolicies

_NAME = "as `relight policy list` shows it"
_JSON = "JSON on standard output, for machines"
CHOICES = ("active", "shadow", "off", "keep", "file")
_MODE = (
    "one for all of them, instead of what the files say; keep: each as the table has it, new ones as their file says;"
    " file: as the files say, though active policies stop by it"
)
_DONE = "one JSON document on standard output: of each policy what was written and judged, and what is left"
Add = Callable[..., argparse.ArgumentParser]


def add_arguments(add: Add, shipped: Path, paths: str) -> None:
    """Declare each by *add*; *shipped* is the folder that comes along, *paths* says what may be named."""
    _add_push(add("push", help="write policies as live items"), shipped, paths)
    _add_pull(add("pull", help="write what stands in the table as files"), shipped)
    _add_diff(add("diff", help="files against the table, or two revisions"))
    _add_past(add)
    for name, text in (("stop", "nothing acts any more, at once"), ("start", "policies act again as they say")):
        action = add(name, help=text)
        add_reason(action, "why, for whoever is paged")
        add_who(action)
        action.add_argument("--json", action="store_true", help=_DONE)
        _add_table(action)
    setting = add("set-mode", help="one policy's mode; also ends the shadow it put itself in")
    setting.add_argument("name", metavar="NAME", help=_NAME)
    setting.add_argument("mode", choices=["active", "shadow", "off"])
    _add_edit(setting)
    listing = add("list", help="every policy in one line")
    listing.add_argument("paths", nargs="*", type=Path, metavar="FILE_OR_DIR", help="of files, not of the table")
    listing.add_argument("--json", action="store_true", help=_JSON)
    _add_table(listing)


def _add_push(action: argparse.ArgumentParser, shipped: Path, paths: str) -> None:
    action.add_argument("paths", nargs="*", type=Path, metavar="FILE_OR_DIR", default=[shipped], help=paths)
    action.add_argument("--mode", choices=CHOICES, default="", help=_MODE)
    action.add_argument("--dry-run", action="store_true", help="show what would change, and write nothing")
    gone = "turn off what was pushed from this folder and is no more in it"
    action.add_argument("--prune", action="store_true", help=gone)
    action.add_argument("--force", action="store_true", help="write over what somebody edited in the table meanwhile")
    expect = "of one policy: write if N is in force, else not"
    action.add_argument("--expect-revision", type=whole_number(), metavar="N", help=expect)
    source = (
        "what this place calls itself (default: the folder's name). Named here, what it pushed before may be written"
        " over: for the one pipeline that pushes"
    )
    action.add_argument("--source", default="", metavar="NAME", help=source)
    _add_rehearsal(action)
    _add_edit(action, wait=0.0)
    action.set_defaults(shipped=shipped)


def _add_rehearsal(action: argparse.ArgumentParser) -> None:
    """What makes a push prove itself on the past first."""
    where = "rehearse it on this archive first (a folder, or s3://bucket/prefix): what would it have done differently"
    action.add_argument("--backtest", default="", metavar="PATH", help=where)
    action.add_argument("--backtest-days", type=days, default=7, metavar="N", help="so many days of it (7)")
    most = "write only if it would have acted anew in at most so many incidents (0)"
    action.add_argument("--most-new-acts", type=whole_number(), default=0, metavar="N", help=most)
    add_archive(action)


def _add_pull(action: argparse.ArgumentParser, shipped: Path) -> None:
    action.set_defaults(shipped=shipped)
    action.add_argument("names", nargs="*", metavar="NAME", help=f"{_NAME} (default: all)")
    action.add_argument("--to", type=Path, required=True, metavar="DIR", help="the folder to write to")
    action.add_argument("--force", action="store_true", help="write over files that were edited")
    action.add_argument("--json", action="store_true", help=_DONE)
    _add_table(action)


def _add_diff(action: argparse.ArgumentParser) -> None:
    wanted = "files or folders, against the table; or one policy: its item against what is in force"
    action.add_argument("wanted", nargs="+", metavar="NAME_OR_PATH", help=wanted)
    action.add_argument("--revision", default="", metavar="A..B", help="of one policy: two revisions; A alone: since A")
    action.add_argument("--json", action="store_true", help=_JSON)
    _add_table(action)


def _add_past(add: Add) -> None:
    show = add("show", help="one policy in full")
    show.add_argument(
        "--revision", type=positive, default=0, metavar="N", help="as it was (default: as it is in force)"
    )
    history = add("history", help="its revisions: who, when, why, what changed")
    for action in (show, history):
        action.add_argument("name", metavar="NAME", help=_NAME)
        action.add_argument("--json", action="store_true", help=_JSON)
        _add_table(action)
    rollback = add("rollback", help="an earlier revision comes into force again")
    rollback.add_argument("name", metavar="NAME", help=_NAME)
    rollback.add_argument("--to", type=positive, default=0, metavar="N", help="that revision (default: the one before)")
    _add_edit(rollback)


def _add_edit(action: argparse.ArgumentParser, wait: float = 60.0) -> None:
    add_reason(action, "why, for whoever looks later")
    waiting = f"for the guard's verdict ({wait:g})"
    action.add_argument("--wait", type=seconds, default=wait, metavar="SECONDS", help=waiting)
    action.add_argument("--json", action="store_true", help=_DONE)
    add_who(action)
    _add_table(action)


def _add_table(action: argparse.ArgumentParser) -> None:
    action.add_argument("--table", help=f"the policies table (default: {POLICIES_TABLE}, else that of the stack)")
    action.add_argument(
        "--stack", help=f"whose policies table it is ({DEFAULT_STACK}); named, it counts before {POLICIES_TABLE}"
    )
    action.add_argument("--region", help="the AWS region (default: AWS_REGION, or that of your profile)")


def run(args: argparse.Namespace, policies: "DynamoPolicies", gates: Sequence["Gate"] = ()) -> int:
    """Carry out what was asked; *gates* see what a push is about to write, and may refuse. Return the exit status."""
    if args.action in {"list", "show", "history", "diff"}:
        return _look(args, policies)
    answer = Answer(args.action)
    return answered(answer, lambda: _edit(args, policies, gates, answer), as_json=args.json)


def _look(args: argparse.Namespace, policies: "DynamoPolicies") -> int:
    from console.policy import comparing, counting, editing, history

    match args.action:
        case "list":
            counts = counting.counter(args.stack or DEFAULT_STACK, args.region, policies.table)
            return editing.list_table(policies, as_json=args.json, counter=counts)
        case "history":
            return history.tell_history(policies, args.name, as_json=args.json)
        case "diff":
            return comparing.compare(policies, args.wanted, args.revision, as_json=args.json)
    if args.revision:
        return history.show_revision(policies, args.name, args.revision, as_json=args.json)
    return editing.show(policies, args.name, as_json=args.json)


def _edit(args: argparse.Namespace, policies: "DynamoPolicies", gates: Sequence["Gate"], answer: Answer) -> int:
    import time
    from datetime import UTC, datetime
    from functools import partial

    from console.policy import editing, mode_setting, pulling, pushing, rolling_back
    from console.policy.edits import Editor

    if args.action == "pull":
        return pulling.pull(policies, pulling.Wish(args.names, args.to, args.force, args.shipped), answer)
    clock = partial(datetime.now, UTC)
    editor = Editor(args.by, clock(), args.reason)
    if args.action == "push":
        wish = pushing.Wish(
            paths=args.paths,
            editor=editor,
            shipped=args.shipped,
            mode=args.mode,
            source=args.source,
            prune=args.prune,
            dry_run=args.dry_run,
            force=args.force,
            expected=args.expect_revision,
            wait_seconds=args.wait,
            words=getattr(args, "typed", ("policy", "push")),
        )
        return pushing.push(policies, wish, answer, gates, clock=clock, pause=time.sleep)
    if args.action == "rollback":
        back = rolling_back.Wish(args.name, editor, args.to, args.wait)
        return rolling_back.roll_back(policies, back, answer, clock=clock, pause=time.sleep)
    if args.action == "set-mode":
        mode = mode_setting.Wish(args.name, args.mode, args.by, args.reason, args.wait)
        return mode_setting.set_mode(policies, mode, answer, clock=clock, pause=time.sleep)
    return editing.switch(policies, answer, reason=args.reason, edited_by=args.by, now=clock())

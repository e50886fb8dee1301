"""Show which checkpoint a job would resume from, and why newer ones would be refused.

relight checkpoints inspect s3://bucket/run-7        by listing and small reads; nothing is written
relight checkpoints inspect /mnt/checkpoints/run-7   the same on a disk
relight checkpoints inspect PATH --json              the answer as one JSON object
relight checkpoints layouts                          the layouts that are known
"""

import argparse
import json
import sys
from datetime import datetime
from typing import TYPE_CHECKING

from console.saying import say
from console.values import seconds

if TYPE_CHECKING:
    from policies.checkpoints.model import Choice

DONE, FAILED, USAGE_ERROR = 0, 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommands."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    actions.add_parser("layouts", help="list the layouts that are known")
    inspect = actions.add_parser("inspect", help="choose as choose_checkpoint would")
    inspect.add_argument("path", metavar="PATH", help="a folder, or s3://bucket/prefix")
    inspect.add_argument("--layout", default="auto", help="look for this layout only (default: every known one)")
    inspect.add_argument(
        "--quiet-seconds",
        type=seconds,
        default=0.0,
        metavar="N",
        help="leave alone what changed in the last N seconds (0)",
    )
    inspect.add_argument(
        "--before", type=_moment, metavar="TIME", help="only what was written before this moment (RFC 3339)"
    )
    inspect.add_argument("--region", help="the AWS region (default: AWS_REGION, or that of your profile)")
    inspect.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Exit status: 0 a complete checkpoint was found, 1 none was, 2 asked wrongly."""
    if args.action == "layouts":
        return _list_layouts()
    from policies.contract.errors import BadInputError, RelightError

    try:
        choice = _inspect(args)
    except RelightError as error:
        from console.dlq.adapters.asking import advice

        say(f"relight checkpoints: {error.message} {advice(error)}".strip(), file=sys.stderr)
        return USAGE_ERROR if isinstance(error, BadInputError) else FAILED
    if args.json:
        print(json.dumps(_as_object(choice), indent=1))
    else:
        say(_as_text(args.path, choice))
    return FAILED if choice.chosen_step is None else DONE


def _inspect(args: argparse.Namespace) -> "Choice":
    from console.checkpoints import open_bucket, open_folder
    from policies.checkpoints.choose import choose
    from policies.checkpoints.choose import run as drive

    opened = open_bucket(args.path, args.region) if args.path.startswith("s3://") else open_folder(args.path)
    work = choose(opened.tree, now=opened.now, layout=args.layout, quiet_seconds=args.quiet_seconds, before=args.before)
    return drive(work, opened.read)


def _list_layouts() -> int:
    from policies.checkpoints.layouts import LAYOUTS

    for layout in LAYOUTS.values():
        notes = "" if layout.resumable else "weights only"
        say(f"{layout.name:<14} {notes if layout.counts_steps else 'numbers count saves, not steps'}".rstrip())
    return DONE


def _as_object(choice: "Choice") -> dict[str, object]:
    refused = [{"step": each.step, "path": each.path, "reason": each.reason} for each in choice.refused]
    return {
        "chosen_step": choice.chosen_step,
        "path": choice.path,
        "layout": choice.layout,
        "suspect": choice.suspect,
        "doubts": list(choice.doubts),
        "seen": choice.seen,
        "refused": refused,
    }


def _as_text(place: str, choice: "Choice") -> str:
    lines = [f"refused  step {each.step:<10} {each.path}: {each.reason}" for each in choice.refused]
    lines += [f"doubt    {doubt}" for doubt in choice.doubts]
    if choice.chosen_step is not None:
        doubt = ", written after the evidence of corruption" if choice.suspect else ""
        lines.append(f"chosen   step {choice.chosen_step:<10} {choice.path} ({choice.layout}{doubt})")
    elif choice.seen:
        lines.append(f"none of {choice.seen} checkpoints under {place} is complete")
    else:
        lines.append(f"no checkpoint of a known layout lies under {place}; `relight checkpoints layouts` lists them")
    return "\n".join(lines)


def _moment(text: str) -> datetime:
    from policies.contract.times import parse_time

    try:
        return parse_time(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}; write it as 2026-03-01T12:00:00Z") from None

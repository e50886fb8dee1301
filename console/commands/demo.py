"""Something breaks on the embedded AWS, and the run goes on.

Starts an AWS of its own on loopback, deploys Relight's template into it, boots a simulated fleet with the real agents
and a training job, breaks one thing (a GPU, unless told otherwise) and shows what happens. No account, no network,
nothing left behind, whether it ends by itself, by Ctrl-C, by SIGTERM or because its terminal was closed.
"""

import argparse
import os
from pathlib import Path

from console.values import seconds_from, whole_number, writable

_LEAST_SECONDS = 30.0
_HOLD_MINUTES, _MOST_MINUTES = 60, 480  # every record stays in memory, a few MB a minute: a working day at most


# Of local/demo/faults.py, which is loaded only when the demo runs; a test holds the two together.
FAULTS = ("xid", "hang", "oom", "silent", "efa")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe what breaks, what is kept of it, and for how long it is waited for."""
    parser.add_argument(
        "--fault",
        choices=FAULTS,
        default=FAULTS[0],
        help="what breaks: a GPU falls off the bus (xid, the default), a rank hangs (hang), a rank's container hits its"
        " memory limit (oom), a machine goes silent (silent), a network adapter vanishes (efa)",
    )
    parser.add_argument("--report", type=writable, metavar="FILE", help="write what happened as JSON")
    parser.add_argument(
        "--archive",
        type=_new_folder,
        metavar="DIR",
        help="keep its archive in a new folder, for `relight policy backtest` and `relight archive stats`",
    )
    parser.add_argument("--json", action="store_true", help="tell the story as JSON lines (for programs)")
    parser.add_argument(
        "--keep", action="store_true", help="keep logs and data when all went well (else: only when not)"
    )
    parser.add_argument(
        "--hold",
        action="store_true",
        help="when all went well, keep its world open to practise on with every other command, until Ctrl-C",
    )
    parser.add_argument(
        "--hold-for",
        type=whole_number(1, _MOST_MINUTES),
        metavar="MINUTES",
        help=f"the same, and for how long at most (default {_HOLD_MINUTES}, up to {_MOST_MINUTES})",
    )
    parser.add_argument(
        "--deadline",
        type=seconds_from(_LEAST_SECONDS),
        default=300.0,
        metavar="SECONDS",
        help="give up after (default 300, at least 30)",
    )


def _new_folder(text: str) -> Path:
    """Return the path of a folder that is empty or can be made: other events in it would be told as the demo's."""
    path = Path(text)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise argparse.ArgumentTypeError(f"{text} is there and not empty: name a new folder")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text} cannot be made: name one in a folder that is there")
    return path


def run(args: argparse.Namespace) -> int:
    """Run the demo; 0 when the run went on as it should."""
    from local.demo.main import run_demo

    return run_demo(
        report=args.report,
        as_json=args.json,
        keep=args.keep,
        deadline_seconds=args.deadline,
        fault=args.fault,
        archive=args.archive,
        hold_minutes=args.hold_for or (_HOLD_MINUTES if args.hold else None),
    )

"""A GPU falls off the bus on the embedded AWS, and the run goes on.

Starts an AWS of its own on loopback, deploys Relight's template into it, boots a simulated fleet with the real agents
and a training job, breaks one GPU and shows what happens. No account, no network, nothing left behind.
"""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--report", type=Path, metavar="FILE", help="write what happened as JSON")
    parser.add_argument("--json", action="store_true", help="tell the story as JSON lines (for programs)")
    parser.add_argument(
        "--keep", action="store_true", help="keep logs and data when all went well (else: only when not)"
    )
    parser.add_argument("--deadline", type=float, default=180.0, metavar="SECONDS", help="give up after (default 180)")


def run(args: argparse.Namespace) -> int:
    from local.demo.main import run_demo

    return run_demo(report=args.report, as_json=args.json, keep=args.keep, deadline_seconds=args.deadline)

"""What the commands about a deployed stack have in common: their options, their question, their way to fail.

It must not know what a command does.
"""

import argparse
import sys
from collections.abc import Callable

from console.saying import say, shown
from console.values import days as whole_days

DEFAULT_STACK = "Relight"  # infra/settings.py, Deployment.name
POLICIES_TABLE = "POLICIES_TABLE"  # names the policies table, where it is not looked for in the stack
DAYS = 14


def common_options(
    looked_for: str, days: int = DAYS, *, back: str = "how far to look back for"
) -> argparse.ArgumentParser:
    """Return the options of every subcommand, as a parent; *looked_for* is what --days is about, *back* in what way."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--stack", default=DEFAULT_STACK, help=f"the CloudFormation stack ({DEFAULT_STACK})")
    common.add_argument("--region", help="the AWS region (default: AWS_REGION, or that of your profile)")
    common.add_argument("--json", action="store_true", help="JSON on standard output, for machines")
    common.add_argument("--days", type=whole_days, default=days, help=f"{back} {looked_for} ({days})")
    return common


def agrees(question: str) -> bool:
    """Ask the person at the terminal; anything but yes is no."""
    print(shown(f"{question} [y/N] "), end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def told(command: str, asked: argparse.Namespace, work: Callable[[], int]) -> int:
    """Do *work* as *asked* and return its exit status; what cannot be done is told with its next step: 1, or 2."""
    from console.asked_wrongly import status_of
    from console.dlq.adapters.asking import advice
    from console.going_on import to_see
    from policies.contract.errors import RelightError

    try:
        return work()
    except RelightError as error:
        say(f"relight {command}: {error.message} {advice(error, to_see(asked))}", file=sys.stderr)
        return status_of(error)

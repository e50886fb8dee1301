"""How a person says who they are and why, by the same options in every command.

Both words of each are understood everywhere: nobody remembers at night which command wants which. It must not know what
a command does with them.
"""

import argparse
from typing import Any

REASON, WHO = ("--reason", "--why"), ("--by", "--edited-by")


def add_reason(parser: argparse.ArgumentParser, meant: str, **more: Any) -> None:  # noqa: ANN401 - argparse's own
    """Declare why something is done, as `reason`; *meant* is its line in the help, *more* is argparse's."""
    parser.add_argument(*REASON, dest="reason", metavar="TEXT", help=meant, **{"default": "", **more})


def add_who(parser: argparse.ArgumentParser, **more: Any) -> None:  # noqa: ANN401 - argparse's own
    """Declare who does it, as `by`: whoever is logged in unless told otherwise."""
    from console.whoami import whoami

    parser.add_argument(*WHO, dest="by", metavar="NAME", help="who it is (default: you)", default=whoami(), **more)

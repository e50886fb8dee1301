"""See what the archive holds, day by day, and copy days of it to this machine.

  relight archive stats                        the last 14 days of the stack's archive
  relight archive stats past/ --json           of a folder, for machines
  relight archive stats s3://bucket --days 2   the last two days that are there
  relight archive pull past/ --days 30         copy thirty days into a folder; again, it copies what is missing

WHERE is a folder that holds events/, or s3://bucket/prefix; without it, the archive of the stack. Nothing is changed
there. Exit status: 0 done, 1 something of it cannot be read or reached, 2 asked wrongly.
"""

import argparse
from typing import TYPE_CHECKING

from console.stack_commands import common_options, told

if TYPE_CHECKING:
    from functions.ports.archive import ArchiveReader

_UNREADABLE = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the two subcommands."""
    common = common_options("days that are there", back="the last")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="stats|pull")
    stats = verbs.add_parser("stats", parents=[common], help="events, gaps, incidents and sizes, day by day")
    pull = verbs.add_parser("pull", parents=[common], help="copy days to a folder")
    pull.add_argument("folder", metavar="DEST", help="where to; what is there already is left")
    stats.add_argument("where", metavar="WHERE", nargs="?", default="", help="a folder, or s3://bucket/prefix")
    pull.add_argument("--from", dest="where", default="", metavar="WHERE", help="a folder, or s3://bucket/prefix")


def run(args: argparse.Namespace) -> int:
    """Do it; AWS is asked under the credentials of the environment."""
    from console.archive.whereabouts import address_of, reader_of

    def work() -> int:
        address = args.where or address_of(args.stack, args.region)
        return perform(args, address, reader_of(address, args.region))

    return told("archive", args, work)


def perform(args: argparse.Namespace, address: str, reader: "ArchiveReader") -> int:
    """Do it with this archive; RelightError when it cannot be done."""
    from pathlib import Path

    from console.archive.pulling import pull
    from console.archive.screen import Screen
    from console.archive.statistics import count
    from console.archive.whereabouts import last_days
    from functions.adapters.archive_folder import FolderArchive

    screen = Screen(args.json, address)
    days = last_days(reader, args.days)
    if args.verb == "pull":
        target = FolderArchive(Path(args.folder))
        screen.pulled(pull(reader, target, target, days, screen.progress), args.folder)
        return 0
    found = count(reader, days, screen.progress)
    screen.statistics(found)
    return _UNREADABLE if found.wrong else 0

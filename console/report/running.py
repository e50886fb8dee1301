"""Makes the report as it was asked for and prints it. It must not read tables itself."""

import argparse

from console.policy.complaining import complain
from console.report.reading import Wish, of_archive, of_stack
from console.report.screen import print_json, print_table, print_text
from policies.shadow.report import Report

_BAD_SHOWN = 3


def run(args: argparse.Namespace) -> int:
    """Do what *args* ask; AWS is asked unless an archive is named."""
    if args.events:
        from console.archive.whereabouts import reader_of
        from simulator.archive.reading import Told

        wrong = Told()
        report = of_archive(reader_of(args.events, args.region), Wish(args.days), wrong)
        if wrong.wrong:
            for bad in wrong.bad[:_BAD_SHOWN]:
                complain(str(bad))
            complain(f"{wrong.wrong} lines or objects could not be read; `relight archive stats` names them.")
        return show(report, args)
    from console.policy.account import connect

    return show(of_stack(connect(args.stack, args.region), Wish(args.days)), args)


def show(report: Report, args: argparse.Namespace) -> int:
    """Print *report*; return the exit status."""
    if args.json:
        print_json(report)
    elif args.mail_text:
        print_text(report)
    else:
        print_table(report)
    return 0

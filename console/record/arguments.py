"""What `relight policy record` takes. It must not import what runs it: help is printed without."""

import argparse
from pathlib import Path

from console.values import whole_number

MOST_FINDINGS = 50  # of an example (policies/model.py)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options; those of the stack are declared by whoever makes *parser*."""
    parser.add_argument("incident", metavar="INCIDENT", help="the incident; its id's first characters do")
    parser.add_argument("--policy", default="", metavar="NAME", help="whose example (default: whose incident it is)")
    where = "an archive (a folder that holds events/, or s3://bucket/prefix): every event as it came; default: notes"
    parser.add_argument("--events", default="", metavar="PATH", help=where)
    policies = "policies in files (default: those in force, in the archive or in the stack)"
    parser.add_argument("--policies", type=Path, metavar="DIR", help=policies)
    parser.add_argument("--write", type=Path, metavar="FILE", help="append it to this policy's examples")
    parser.add_argument(
        "--findings",
        type=whole_number(0, MOST_FINDINGS),
        metavar="N",
        help="how many findings there should be, if others",
    )
    parser.add_argument("--says", default="", metavar="TEXT", help="its title")
    parser.add_argument("--all", action="store_true", help="companions too, which the policy does not ask about")

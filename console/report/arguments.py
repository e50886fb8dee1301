"""What `relight policy report` takes. It must not import what runs it: help is printed without."""

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options; those of the stack are declared by whoever makes *parser*."""
    where = "an archive (a folder that holds incidents/ and policies/, or s3://bucket/prefix) instead of the stack"
    parser.add_argument("--events", default="", metavar="PATH", help=where)
    parser.add_argument("--mail-text", action="store_true", help="as plain text, as it is mailed")

"""What `relight policy backtest` takes. It must not import what runs it: help is printed without."""

import argparse
from pathlib import Path

from console.values import above_zero, moment, positive, whole_number, writable_svg

# Capacity Blocks, p5.48xlarge in us-east, per accelerator (aws.amazon.com/ec2/capacityblocks/pricing, end of 2024).
GPU_HOUR_PRICE = 4.92
RECORDED, CURRENT = "recorded", "current"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--events",
        required=True,
        metavar="PATH",
        help="the archive: a folder that holds events/, or s3://bucket/prefix",
    )
    parser.add_argument(
        "--policies",
        default=RECORDED,
        metavar="DIR",
        help="what is tried: a folder of policies (or a file), in the modes that its files have, and no other policy;"
        " `current`: those in force when the archive ends, for the whole time;"
        " default: as they were in force at each moment",
    )
    parser.add_argument(
        "--overlay",
        action="store_true",
        help="of a folder of policies or a file: on top of those in force when the archive ends, as a push would put it"
        " there",
    )
    parser.add_argument(
        "--mode",
        choices=["active", "shadow", "off", "keep"],
        default="",
        help="of a folder of policies: instead of what its files say, as `push --mode` does (keep: each in the mode"
        " that it had when the archive ended)",
    )
    parser.add_argument(
        "--against",
        choices=["archive", CURRENT],
        default="archive",
        help="compare with what was done (archive, the default), or with what the current policies would do",
    )
    parser.add_argument("--from", dest="since", type=moment, metavar="TIME", help="2026-11-30 or 2026-11-30T07:00, UTC")
    parser.add_argument("--to", dest="until", type=moment, metavar="TIME", help="the same; what arrived before it")
    parser.add_argument("--json", action="store_true", help="JSON on standard output, for machines")
    parser.add_argument(
        "--all", action="store_true", help="in the table, also what is the same and what nobody acts on"
    )
    parser.add_argument(
        "--plot", type=writable_svg, metavar="FILE.svg", help="draw a line for each node and run into this file"
    )
    parser.add_argument(
        "--resume", type=Path, metavar="DIR", help="keep each day there, and go on where it was stopped"
    )
    parser.add_argument(
        "--gpu-hour-price",
        type=above_zero,
        default=GPU_HOUR_PRICE,
        metavar="X",
        help=f"in USD (default {GPU_HOUR_PRICE})",
    )
    parser.add_argument(
        "--most-new-acts",
        type=whole_number(),
        metavar="N",
        help="fail if more than so many incidents would be acted on anew",
    )
    add_archive(parser)
    parser.add_argument("--region", help="the AWS region (default: AWS_REGION, or that of your profile)")


def add_archive(parser: argparse.ArgumentParser) -> None:
    """Declare what has to be known of an archive that is told again, and is not in it."""
    parser.add_argument(
        "--orchestrator", choices=["eks", "sagemaker"], default="eks", help="who runs clusters whose jobs do not say"
    )
    parser.add_argument(
        "--time-scale",
        type=above_zero,
        metavar="X",
        help="how many seconds a second of a wait lasted (default: what the archive tells of itself, as one of the demo"
        " does, else 1)",
    )
    parser.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="processes that replay, some 150 MB each: one for each side of a comparison, then one for each cluster;"
        " the account is the same (default: as many as there are processors, 4 at most, and 1 for a small archive)",
    )

"""`python -m tests.bench [NAME] [--write]`: the figures of docs/benchmarks.md.

Each module of tests/bench with a function `figures()` measures something; NAME picks those whose module or figure
names hold it. One JSON line a figure as it comes, then a table. --write renews the table in docs/benchmarks.md.
"""

import argparse
import importlib
import json
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.bench.measure import Figure

HERE = Path(__file__).resolve().parent
DOCUMENT = HERE.parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
NOT_BENCHES = {"__main__", "measure"}


def modules() -> list[str]:
    """Return the names of the modules here that measure something."""
    found = (path for path in HERE.glob("*.py") if path.stem not in NOT_BENCHES)
    return sorted(path.stem for path in found if "def figures(" in path.read_text(encoding="utf-8"))


def measure(wanted: Sequence[str]) -> Iterator[Figure]:
    """Run the benches whose module is named in *wanted*, or all; print each figure's line as it comes."""
    for name in modules():
        if wanted and not any(word in name for word in wanted):
            continue
        sys.stderr.write(f"measuring {name} ...\n")
        figures: Iterable[Figure] = importlib.import_module(f"tests.bench.{name}").figures()
        for figure in figures:
            print(json.dumps(figure), flush=True)
            yield figure


def table(figures: Iterable[Figure]) -> str:
    """Return the figures as a Markdown table."""
    rows = [
        f"| {one['name']} | {one['median']:,} | {one['min']:,} – {one['max']:,} | {one['unit']} | {one['runs']} "
        f"| {one['better']} |"
        for one in figures
    ]
    head = ["| figure | median | min – max | unit | runs | better |", "|---|---:|---:|---|---:|---|"]
    return "\n".join([*head, *rows])


def renew(document: Path, text: str, *, measured_on: datetime) -> None:
    """Put *text* between the marks of *document*, with the day and the machine it was measured on."""
    before, rest = document.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    note = f"Measured on {measured_on:%Y-%m-%d}: {machine}."
    document.write_text(f"{before}{BEGIN}\n{note}\n\n{text}\n{END}{after}", encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Run the tool."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("names", nargs="*", help="only benches whose module name holds one of these words")
    parser.add_argument("--write", action="store_true", help="renew docs/benchmarks.md (all benches)")
    args = parser.parse_args(arguments)
    if args.write and args.names:
        parser.error("--write renews the whole table; name no bench")
    figures = list(measure(args.names))
    if not figures:
        parser.error(f"no bench matches {args.names}; there are: {', '.join(modules())}")
    print(f"\n{table(figures)}")
    if args.write:
        renew(DOCUMENT, table(figures), measured_on=datetime.now(UTC))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""`python -m tests.bench [NAME] [--write]`: the figures of docs/benchmarks.md.

Each module of tests/bench with a function `figures()` measures something; NAME picks those whose module or figure
names hold it. One JSON line a figure as it comes, then a table. --write renews their rows in docs/benchmarks.md;
without a NAME the whole table.
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
HEAD = ("| figure | median | min – max | unit | runs | better | measured on |", "|---|---:|---:|---|---:|---|---|")
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


def table(figures: Iterable[Figure], day: str) -> str:
    """Return the figures as a Markdown table."""
    return "\n".join([*HEAD, *(row(one, day) for one in figures)])


def row(one: Figure, day: str) -> str:
    """Return one figure's line of the table."""
    return (
        f"| {one['name']} | {one['median']:,} | {one['min']:,} – {one['max']:,} | {one['unit']} | {one['runs']} "
        f"| {one['better']} | {day} |"
    )


def merged(before: str, figures: Sequence[Figure], day: str, *, whole: bool) -> str:
    """Return the table of *before* with these *figures* renewed in their place; nothing of it where *whole*."""
    rows = {} if whole else {line.split(" | ")[0]: line for line in before.splitlines() if _is_row(line)}
    rows |= {f"| {one['name']}": row(one, day) for one in figures}
    return "\n".join([*HEAD, *rows.values()])


def _is_row(line: str) -> bool:
    return line.startswith("| ") and line not in HEAD


def renew(document: Path, figures: Sequence[Figure], *, measured_on: datetime, whole: bool) -> None:
    """Put *figures* between the marks of *document*, with the day and the machine they were measured on."""
    before, rest = document.read_text(encoding="utf-8").split(BEGIN)
    inside, after = rest.split(END)
    machine = f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}"
    if not whole and f"Measured on {machine}.\n" not in inside:
        raise SystemExit(
            f"{document} has rows of another machine than this ({machine}): renew all (make bench ARGS=--write)."
        )
    text = merged(inside, figures, f"{measured_on:%Y-%m-%d}", whole=whole)
    document.write_text(f"{before}{BEGIN}\nMeasured on {machine}.\n\n{text}\n{END}{after}", encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Run the tool."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("names", nargs="*", help="only benches whose module name holds one of these words")
    parser.add_argument("--write", action="store_true", help="renew their rows in docs/benchmarks.md")
    args = parser.parse_args(arguments)
    figures = list(measure(args.names))
    if not figures:
        parser.error(f"no bench matches {args.names}; there are: {', '.join(modules())}")
    now = datetime.now(UTC)
    print(f"\n{table(figures, f'{now:%Y-%m-%d}')}")
    if args.write:
        renew(DOCUMENT, figures, measured_on=now, whole=not args.names)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

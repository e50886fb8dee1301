"""Where answers are printed, and how wide that is.

Decides the width: a terminal's is its own, or what COLUMNS says; a pipe or a file has none, so that no line of it is
broken and no figure cut (`relight … | grep`). It must not know what is printed.
"""

import os
import textwrap
from collections.abc import Iterable

from rich.console import Console
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Table

from console.saying import SHOWN

WITHOUT_END = 10_000
LEAST = 40  # columns: below it a line is cut rather than broken after each word


class _Out(Console):
    """Standard output. A line of somebody's log must not drive the terminal of who reads it."""

    def on_broken_pipe(self) -> None:
        """Let whoever started it know: rich would call it a failure of ours (exit status 1) that a reader is gone."""
        raise BrokenPipeError

    def _render_buffer(self, buffer: Iterable[Segment]) -> str:
        shown = (one if one.control else Segment(one.text.translate(SHOWN), one.style) for one in buffer)
        return super()._render_buffer(shown)


def terminal(*, highlight: bool = True, soft_wrap: bool = False) -> Console:
    """Return standard output."""
    out = _Out(highlight=highlight, soft_wrap=soft_wrap)
    if not out.is_terminal and not os.environ.get("COLUMNS", "").isdecimal():
        out.width = WITHOUT_END
    return out


def print_figures(out: Console, table: Table) -> None:
    """Print a *table* of figures: where it is wider than the terminal its lines are broken, and no figure is cut."""
    width = out.width
    out.width = max(width, Measurement.get(out, out.options.update(max_width=WITHOUT_END), table).maximum)
    out.print(table)
    out.width = width


def paragraph(out: Console, text: str, first: str = "", after: str = "") -> str:
    """Return *text* behind *first*, in lines that fit; each further line behind *after*."""
    width = max(out.width, LEAST)
    return textwrap.fill(
        text, width, initial_indent=first, subsequent_indent=after, break_long_words=False, break_on_hyphens=False
    )

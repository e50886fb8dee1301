"""Prints lists whose lines have ids: a table where it fits, else a block for each line of it.

Decides which: an id that is broken over two lines cannot be copied, so nothing but free text is ever folded, and that
only between words. It must not know what is listed.
"""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from console.saying import say
from console.terminal import paragraph, terminal

Row = Sequence[str | Text]
LEAST_TEXT = 24  # columns for free text beside the rest: with less, a block reads better
_GAP, _LABEL, _INDENT = 2, 9, "  "


def print_rows(out: Console, headings: Sequence[str], rows: Sequence[Row], *, text: str = "") -> None:
    """Print *rows* under *headings*; the first column names a line, *text* is the heading of what may be folded."""
    cells = [[cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in rows]
    if _needed(headings, cells, text) <= out.width:
        out.print(_table(headings, cells, text))
        return
    for each in cells:
        _block(out, headings, each)


def _needed(headings: Sequence[str], rows: Sequence[Sequence[Text]], text: str) -> int:
    """Return how wide a table of them is at least."""
    widths = []
    for at, heading in enumerate(headings):
        column = [Text(heading), *(row[at] for row in rows)]
        folded = [max(LEAST_TEXT, *map(_longest_word, column))] if heading == text else []
        widths.append(min([max(map(_longest_line, column)), *folded]))
    return sum(widths) + _GAP * len(widths)


def _longest_line(cell: Text) -> int:
    return max((line.cell_len for line in cell.split("\n")), default=0)


def _longest_word(cell: Text) -> int:
    return max((Text(word).cell_len for word in cell.plain.split()), default=0)


def _table(headings: Sequence[str], rows: Sequence[Sequence[Text]], text: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    for heading in headings:
        table.add_column(heading, overflow="fold", no_wrap=heading != text)
    for row in rows:
        table.add_row(*row)
    return table


def _block(out: Console, headings: Sequence[str], row: Sequence[Text]) -> None:
    """Print one line of the list below each other; what is empty is left out."""
    first, *rest = row
    out.print(Text(paragraph(out, first.plain, after=_INDENT), style="bold"), soft_wrap=True)
    after = f"{_INDENT}{' ' * _LABEL} "
    for heading, cell in zip(headings[1:], rest, strict=True):
        if cell.plain:
            told = Text(paragraph(out, f"{heading:<{_LABEL}} {cell.plain}", _INDENT, after), style=cell.style)
            out.print(told, soft_wrap=True)


def say_words(text: str, after: str = "") -> None:
    """Print a line, folded between words where the terminal is narrower; each further line behind *after*."""
    say(paragraph(terminal(), text, after=after))

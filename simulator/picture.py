"""A back-test as a picture: a line for each node and run on which something is done, what was done and what would be.

Decides what is drawn and where it stands in an SVG, which is text that any browser draws. It must not know how matters
were found.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from xml.sax.saxutils import escape

from policies.contract.times import format_time
from policies.moments import earlier, later
from simulator.deeds import Deed, Difference, Matter
from simulator.time_axis import TimeAxis

MOST_ROWS = 200  # a picture that nobody can read helps nobody; the table has the rest
WIDTH, LEFT, RIGHT, TOP, ROW, BAR, BELOW = 1200, 290, 1150, 128, 30, 10, 24
LEAST = 4.0  # of a bar: what takes minutes within a year must be seen as well
LONGEST_NAME = 40  # characters that fit left of the lines
_APART = 3.0  # two rungs that stand closer cannot be told apart
# Okabe and Ito, "Color Universal Design" (jfly.uni-koeln.de/color, 2008): told apart by colour-blind people too. Each
# but the usual one has a sign as well, for who prints it in grey.
_LOOKS = {
    Difference.NEW: ("#d55e00", "+", "new: only as it would be"),
    Difference.GONE: ("#0072b2", "\N{MINUS SIGN}", "gone: only as it was"),
    Difference.CHANGED: ("#009e73", "≠", "changed: other acts, or another end"),
    Difference.SAME: ("#999999", "", "the same"),
}
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, production 2
_LOWER = 13  # from the first line of a label to its second
Row = tuple[tuple[str, str], list[Matter]]
"""Node and run, and what happens there."""


def picture(matters: Sequence[Matter], begin: datetime, end: datetime) -> str:
    """Return the SVG of those of *matters* in which somebody acts, from *begin* to *end*."""
    acting = [each for each in matters if each.acts]
    rows = _rows(acting)
    shown = rows[:MOST_ROWS]
    height = TOP + ROW * max(len(shown), 1) + BELOW
    axis = TimeAxis(*_period(acting, begin, end), LEFT, RIGHT)
    incidents = "1 incident" if len(acting) == 1 else f"{len(acting)} incidents"
    told = f"Back-test from {_when(begin)} to {_when(end)} UTC: {incidents} with acts"
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    look = f'font-family="sans-serif" font-size="12" role="img" aria-label="{_text(told)}"'
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {look}>',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="8" y="24" font-size="16">{_text(told)}</text>',
        *_legend(acting, len(rows) - len(shown)),
        *_axis(axis, height, (begin, end)),
        *(part for at, row in enumerate(shown) for part in _row(at, row, axis)),
        *(() if shown else (f'<text x="{LEFT}" y="{TOP + 20}">Nobody acts in it, neither before nor after.</text>',)),
        "</svg>",
        "",
    ])  # fmt: skip


def _rows(acting: Sequence[Matter]) -> list[Row]:
    """Return what happens on each node and run, first where something differs: that is what is looked for."""
    rows: dict[tuple[str, str], list[Matter]] = {}
    for matter in acting:
        rows.setdefault((matter.either.node, matter.either.job), []).append(matter)
    return sorted(rows.items(), key=lambda row: all(each.difference is Difference.SAME for each in row[1]))


def _period(acting: Sequence[Matter], begin: datetime, end: datetime) -> tuple[datetime, datetime]:
    """Return what is drawn of the period: all of it, unless whatever happens happens within less than half of it."""
    deeds = [deed for each in acting for deed in (each.before, each.after) if deed and deed.acts]
    if not deeds:
        return begin, end
    first, last = min(each.opened_at for each in deeds), max(_last(each) for each in deeds)
    if (last - first) * 2 > end - begin:
        return begin, end
    beside = max((last - first) / 12, timedelta(minutes=1))
    return max(earlier(first, beside), begin), max(min(later(last, beside), end), first)


def _legend(acting: Sequence[Matter], left_out: int) -> Iterator[str]:
    x = 8.0
    for difference, (colour, sign, told) in _LOOKS.items():
        number = sum(each.difference is difference for each in acting)
        text = f"{sign} {told} ({number})".lstrip()
        yield f'<rect x="{x:.0f}" y="41" width="12" height="{BAR}" fill="{colour}"/>'
        yield f'<text x="{x + 18:.0f}" y="50">{text}</text>'
        x += 42 + 6.5 * len(text)
    more = f"; {left_out} more lines are left out, the table has them" if left_out else ""
    told = "upper bars: as it was; lower bars: as it would be; | a rung is done; ▸ still open"
    yield f'<text x="8" y="72" fill="#555">{told}{more}</text>'


def _axis(axis: TimeAxis, height: int, period: tuple[datetime, datetime]) -> Iterator[str]:
    part = "" if (axis.begin, axis.end) == period else ", the part in which somebody acts"
    yield f'<text x="8" y="{TOP - 26}" fill="#555">node, and its run below</text>'
    yield f'<text x="8" y="{TOP - 10}" fill="#555">time (UTC){part}</text>'
    for mark in axis.marks():
        yield f'<line x1="{mark.x}" y1="{TOP - 4}" x2="{mark.x}" y2="{height - BELOW + 4}" stroke="#e2e4e8"/>'
        yield f'<text x="{mark.x}" y="{TOP - 10}" text-anchor="middle" fill="#555">{mark.upper}</text>'
        if mark.lower:
            yield f'<text x="{mark.x}" y="{TOP - 26}" text-anchor="middle" fill="#555">{mark.lower}</text>'


def _row(at: int, row: Row, axis: TimeAxis) -> Iterator[str]:
    (names, matters), y = row, TOP + at * ROW
    middle = y + ROW // 2
    yield from _label([each for each in names if each], middle)
    yield f'<line x1="{LEFT}" y1="{middle}" x2="{RIGHT}" y2="{middle}" stroke="#c9ccd1"/>'
    for matter in matters:
        for deed, top in ((matter.before, middle - BAR - 1), (matter.after, middle + 1)):
            if deed and deed.acts:
                yield from _bar(deed, top, matter.difference, axis)


def _label(names: Sequence[str], middle: int) -> Iterator[str]:
    """Yield a line for each of *names*: both together are cut where each by itself is not."""
    y = middle + 4 - (len(names) - 1) * _LOWER // 2
    for number, name in enumerate(names):
        whole = f"<title>{_text(' · '.join(names))}</title>"
        yield f'<text x="8" y="{y + number * _LOWER}">{_text(shortened(name))}{whole}</text>'


def _bar(deed: Deed, y: int, difference: Difference, axis: TimeAxis) -> Iterator[str]:
    colour, sign, _told = _LOOKS[difference]
    start = min(axis.at(deed.opened_at), RIGHT - LEAST)
    width = max(axis.at(_last(deed)) - start, LEAST)
    told = f"{deed.policy}: {', '.join(act.rung for act in deed.acts)}; {deed.result}; {format_time(deed.opened_at)}"
    place = f'x="{start}" y="{y}" width="{width:.1f}" height="{BAR}"'
    yield f'<rect {place} fill="{colour}"><title>{_text(told)}</title></rect>'
    reached = start
    for act in deed.acts:
        x = axis.at(act.at)
        if reached + _APART <= x <= start + width - 1:
            yield f'<rect x="{x}" y="{y}" width="1" height="{BAR}" fill="white"/>'
            reached = x
    behind = f"{'▸' if deed.ended_at is None else ''}{sign}"
    if behind:
        yield f'<text x="{start + width + 2:.1f}" y="{y + BAR - 1}" fill="{colour}">{behind}</text>'


def _last(deed: Deed) -> datetime:
    return deed.ended_at or max(act.at for act in deed.acts)


def shortened(name: str, most: int = LONGEST_NAME) -> str:
    """Return *name* in at most so many characters: its middle goes, since names differ in their ends."""
    if len(name) <= most:
        return name
    kept = most - 1
    return f"{name[: kept - kept // 2]}…{name[len(name) - kept // 2 :]}"


def _when(moment: datetime) -> str:
    return format_time(moment)[:16].replace("T", " ")


def _text(text: str) -> str:
    """Return *text* as XML takes it, in an attribute too; what it cannot hold is shown as such."""
    return escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text), {'"': "&quot;"})

"""A back-test as a picture: a line for each node and run on which something is done, what was done and what would be.

Decides where things stand in an SVG, which is text that any browser draws. It must not know how matters were found.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from xml.sax.saxutils import escape

from policies.contract.times import format_time
from simulator.deeds import Deed, Difference, Matter

MOST_ROWS = 200  # a picture that nobody can read helps nobody; the table has the rest
WIDTH, LEFT, TOP, ROW = 1200, 260, 60, 26
_COLOURS = {
    Difference.SAME: "#8a8f98",
    Difference.NEW: "#c8372d",
    Difference.GONE: "#2d6cc8",
    Difference.CHANGED: "#c88a1a",
}
_TICKS = 6


def picture(matters: Sequence[Matter], begin: datetime, end: datetime) -> str:
    """Return the SVG of those of *matters* in which somebody acts, from *begin* to *end*."""
    rows: dict[str, list[Matter]] = {}
    for matter in matters:
        if matter.acts:
            rows.setdefault(_row_of(matter.either), []).append(matter)
    shown = list(rows.items())[:MOST_ROWS]
    height = TOP + ROW * max(len(shown), 1) + 40
    scale = _Scale(begin, end)
    left_out = len(rows) - len(shown)
    size = f'width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}"'
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        *_legend(left_out),
        *_axis(scale, height),
        *(part for at, (name, mine) in enumerate(shown) for part in _row(at, name, mine, scale)),
        "</svg>",
        "",
    ])  # fmt: skip


class _Scale:
    def __init__(self, begin: datetime, end: datetime) -> None:
        self._begin = begin
        self._seconds = max((end - begin).total_seconds(), 1.0)

    def at(self, moment: datetime) -> float:
        share = (moment - self._begin).total_seconds() / self._seconds
        return round(LEFT + (WIDTH - LEFT - 20) * min(max(share, 0.0), 1.0), 1)

    def ticks(self) -> Iterator[tuple[float, str]]:
        for tick in range(_TICKS + 1):
            moment = self._begin + (tick / _TICKS) * _span(self._seconds)
            yield self.at(moment), f"{moment:%m-%d %H:%M}"


def _span(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


def _row_of(deed: Deed) -> str:
    return f"{deed.node} · {deed.job}" if deed.job else deed.node


def _legend(left_out: int) -> Iterator[str]:
    for at, (difference, colour) in enumerate(_COLOURS.items()):
        x = LEFT + at * 110
        yield f'<rect x="{x}" y="12" width="12" height="12" fill="{colour}"/>'
        yield f'<text x="{x + 18}" y="22">{difference.value}</text>'
    note = "above the line: as it was; below: as it would be"
    yield f'<text x="{LEFT + 460}" y="22" fill="#555">{note}{f"; {left_out} rows left out" if left_out else ""}</text>'


def _axis(scale: _Scale, height: int) -> Iterator[str]:
    for x, text in scale.ticks():
        yield f'<line x1="{x}" y1="{TOP - 12}" x2="{x}" y2="{height - 30}" stroke="#e2e4e8"/>'
        yield f'<text x="{x}" y="{TOP - 16}" text-anchor="middle" fill="#555">{text}</text>'


def _row(at: int, name: str, matters: Iterable[Matter], scale: _Scale) -> Iterator[str]:
    y = TOP + at * ROW
    yield f'<text x="8" y="{y + 16}">{escape(name[:38])}</text>'
    yield f'<line x1="{LEFT}" y1="{y + ROW / 2}" x2="{WIDTH - 20}" y2="{y + ROW / 2}" stroke="#c9ccd1"/>'
    for matter in matters:
        colour = _COLOURS[matter.difference]
        if matter.before and matter.before.acts:
            yield from _bar(matter.before, y + 3, colour, scale)
        if matter.after and matter.after.acts:
            yield from _bar(matter.after, y + ROW / 2 + 1, colour, scale)


def _bar(deed: Deed, y: float, colour: str, scale: _Scale) -> Iterator[str]:
    start = scale.at(deed.opened_at)
    last = deed.ended_at or max(act.at for act in deed.acts)
    width = max(scale.at(last) - start, 2.0)
    told = f"{deed.policy}: {', '.join(act.rung for act in deed.acts)}; {deed.result}; {format_time(deed.opened_at)}"
    place = f'x="{start}" y="{y}" width="{width:.1f}" height="8"'
    yield f'<rect {place} fill="{colour}"><title>{escape(told)}</title></rect>'
    for act in deed.acts:
        yield f'<rect x="{scale.at(act.at)}" y="{y}" width="1.5" height="8" fill="black"/>'

"""How what a person types after an option is read: numbers and moments that the commands can reckon with.

Decides what is too little and too much, and says how to write it. It must not know which command asks. A number without
an end (nan, inf, a thousand years of days) is refused here: behind it, it would be an overflow that tells nobody what
to do.
"""

import argparse
import os
from collections.abc import Callable
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path

from policies.durations import parse_duration

MOST_DAYS = 3660  # ten years: ten times as long as anything is kept unless a stack says otherwise
MOST = 1_000_000_000
MOST_SECONDS = 86_400.0
_DIGITS = 32  # more is no number of anything


def whole_number(least: int = 0, most: int = MOST) -> Callable[[str], int]:
    """Return what reads a whole number from *least* to *most*, written in the digits 0 to 9."""

    def read(text: str) -> int:
        plain = text.isascii() and text.isdecimal() and len(text) <= _DIGITS
        if not plain or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{_cut(text)!r} is no whole number from {least} to {most}")
        return int(text)

    return read


days = whole_number(1, MOST_DAYS)
positive = whole_number(1)


def seconds_from(least: float) -> Callable[[str], float]:
    """Return what reads seconds, from *least* to a day."""

    def read(text: str) -> float:
        found = _number(text)
        if not least <= found <= MOST_SECONDS:
            told = f"{_cut(text)!r} is no number of seconds from {least:g} to {MOST_SECONDS:.0f}"
            raise argparse.ArgumentTypeError(told)
        return found

    return read


seconds = seconds_from(0)


def span(least: float, most: float) -> Callable[[str], float]:
    """Return what reads a span of time (``12h``) from *least* to *most* seconds, or 0; as seconds."""

    def read(text: str) -> float:
        try:
            found = 0.0 if text.strip() == "0" else parse_duration(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        if found and not least <= found <= most:
            raise argparse.ArgumentTypeError(f"{_cut(text)!r} is not from {least / 60:g}m to {most / 86400:g}d, nor 0")
        return found

    return read


def above_zero(text: str) -> float:
    """Return *text* as a number above 0 that is not beyond all measure."""
    found = _number(text)
    if not 1 / MOST <= found <= MOST:
        raise argparse.ArgumentTypeError(f"{_cut(text)!r} is no number above 0 and up to {MOST}")
    return found


def moment(text: str) -> datetime:
    """Return the moment that *text* names, in UTC unless it says otherwise."""
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):  # the calendar's first and last hours, with an offset
        told = f"{_cut(text)!r} is no time: write 2026-11-30 or 2026-11-30T07:00"
        raise argparse.ArgumentTypeError(told) from None


def writable(text: str) -> Path:
    """Return the path if a file can be written there, before much work is done for it."""
    path = Path(text)
    try:
        may = not path.is_dir() and os.access(path if path.exists() else path.parent, os.W_OK)
    except OSError:  # too long a name
        may = False
    if not may:
        raise argparse.ArgumentTypeError(f"{_cut(text)} cannot be written: name a file in a folder that is there")
    return path


def writable_svg(text: str) -> Path:
    """Return the path if an SVG can be written there: under another ending, no program would open it as one."""
    path = writable(text)
    if path.suffix.lower() != ".svg":
        raise argparse.ArgumentTypeError(f"{_cut(path.name)} does not end in .svg, which is what is drawn")
    return path


def _number(text: str) -> float:
    """Return the number in *text*, -1 where there is none that ends."""
    try:
        found = float(text) if text.isascii() and "_" not in text else -1.0
    except ValueError:
        return -1.0
    return found if isfinite(found) else -1.0


def _cut(text: str) -> str:
    return text if len(text) <= _DIGITS else f"{text[:_DIGITS]}…"

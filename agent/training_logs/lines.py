r"""A line of a rank's log, whoever wrapped it: what was said, and when, where the wrapper knows.

Forms: as it is; the kubelet's (CRI: `2026-01-31T12:00:00.123456789Z stderr F text`); Docker's JSON file
(`{"log":"text\n","stream":"stderr","time":".."}`). A progress bar writes carriage returns and no line end for hours, so
of a long line its end counts. It must not know what a line means.
"""

import json
import re
from datetime import datetime

from agent.kernel_log.record import KernelRecord

_CRI = re.compile(r"([0-9-]{10}T[0-9:]{8})(?:\.([0-9]{1,9}))?(Z|[+-][0-9:]{5}) (?:stdout|stderr) [FP] ")
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,16}[A-Za-z]")
_KEPT = 16 * 1024


def parse_rank_line(raw: str) -> KernelRecord:
    """Return *raw* without what wraps it; never raises."""
    at, text = _unwrap(raw)
    if "\r" in text:
        text = text.replace("\r", "\n").strip("\n")
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    return KernelRecord(text[-_KEPT:], at=at)


def _unwrap(raw: str) -> tuple[datetime | None, str]:
    if match := _CRI.match(raw):
        fraction = (match[2] or "0")[:6].ljust(6, "0")
        return _time(f"{match[1]}.{fraction}{match[3]}"), raw[match.end() :]
    if raw.startswith('{"log":'):
        try:
            entry = json.loads(raw)
        except (ValueError, RecursionError):
            return None, raw
        return _time(str(entry.get("time", ""))), str(entry.get("log", "")).rstrip("\n")
    return None, raw


def _time(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None

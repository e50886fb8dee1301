"""An entry of systemd's journal, as `journalctl -o json` prints it, as a record.

Fields come in any order; a value is a text, null (too large), a list of bytes (not printable) or a list of texts (the
field is there twice). Which program said it is read from the unit, which the system sets; a name that a program gives
itself is believed only where there is no unit. It must not know faults.

Source: systemd, docs/JOURNAL_EXPORT_FORMATS.md ("Journal JSON Format"); systemd.journal-fields(7).
"""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from agent.kernel_log.record import KernelRecord

FIELDS = (
    *("MESSAGE", "_SYSTEMD_UNIT", "UNIT", "SYSLOG_IDENTIFIER", "_TRANSPORT", "N_DROPPED", "CONTAINER_ID"),
    *("_PID", "_BOOT_ID"),
)
_CURSOR = re.compile(rb'"__CURSOR"\s?:\s?"([^"]{1,400})"')
_MICROSECONDS = 1_000_000
JOURNALD = "systemd-journald"
MANAGER = "systemd"


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One entry. ``record.tag`` is the program; ``unit`` is the service that it is, or that the manager speaks of."""

    record: KernelRecord
    cursor: str
    unit: str
    boot_id: str


def parse_entry(line: bytes) -> JournalEntry | None:
    """Return the entry in *line*; None when there is none in it, or it stands for a stranger's words."""
    try:
        fields = json.loads(line)
        return _entry(fields)
    except (ValueError, RecursionError, KeyError, TypeError, OverflowError):
        return None


def cursor_in(line: bytes) -> str | None:
    """Return the cursor of a *line* that is no entry, cut off perhaps."""
    match = _CURSOR.search(line)
    return match[1].decode("utf-8", "replace") if match else None


def _entry(fields: dict[str, Any]) -> JournalEntry:
    at = datetime.fromtimestamp(int(fields["__REALTIME_TIMESTAMP"]) / _MICROSECONDS, UTC)
    unit = _text(fields.get("UNIT")) or _text(fields.get("_SYSTEMD_UNIT"))
    text = "" if fields.get("CONTAINER_ID") else _text(fields.get("MESSAGE"))  # a container may write what it likes
    record = KernelRecord(text, at=at, tag=_program(fields, unit))
    return JournalEntry(record, fields["__CURSOR"], unit, _text(fields.get("_BOOT_ID")))


def _program(fields: dict[str, Any], unit: str) -> str:
    name = _text(fields.get("SYSLOG_IDENTIFIER"))
    if _text(fields.get("_TRANSPORT")) == "driver":
        return JOURNALD
    if _text(fields.get("UNIT")) and _text(fields.get("_PID")) == "1":
        return MANAGER
    return unit.removesuffix(".service") or name


def _text(value: Any) -> str:  # noqa: ANN401 - JSON of any shape
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(one, int) for one in value):
        return bytes(one & 0xFF for one in value).decode("utf-8", "replace")
    return _text(value[0]) if isinstance(value, list) and value else ""

r"""One record of a kernel log, whatever log it stands in, taken apart: when, from whom, what.

Forms (Documentation/ABI/testing/dev-kmsg of the kernel; dmesg(1); rsyslog's and journalctl's short forms):

    6,3973,227996636,-;text                 /dev/kmsg: prefix, sequence, microseconds since boot, flags; \x0a escapes
    <6>[ 7123021.707761] text               raw dmesg; also without <6>
    [Sun Feb 23 16:24:18 2025] text         dmesg -T
    kern  :warn  : 2025-01-21T04:41:44,283302+00:00 text       dmesg --decode --time-format iso
    Jan 21 11:18:36 host kernel: [ 8609389.400811] text        syslog; line breaks as #012
    2019-08-19T04:18:38.274664-04:00 host kernel: text         syslog with RFC 3339 times

Decides what is prefix and what is text, and never fails: a line in no known form is all text. It must not know faults.
"""

import re
from dataclasses import dataclass
from datetime import datetime

_KMSG = re.compile(r"([0-9]{1,10}),([0-9]{1,20}),([0-9]{1,20}),([^;\n]{0,200});")
_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})")
_LEVEL = re.compile(r"<[0-9]{1,3}>")
_UPTIME = re.compile(r"\[ {0,12}(?:([0-9]{1,10})\.([0-9]{1,9})|[+ 0-9.]{1,24}|\.\.\.)\]\s?")
_CALENDAR = re.compile(r"\[[A-Z][a-z]{2} [A-Z][a-z]{2} {1,2}[0-9]{1,2} [0-9:]{8} [0-9]{4}\]\s?")
_DECODED = re.compile(r"[a-z0-9]{2,8} {0,6}:[a-z]{2,8} {0,6}: ")
_ISO = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{8}(?:[.,][0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2}))\s")
_SYSLOG = re.compile(r"[A-Z][a-z]{2} {1,2}[0-9]{1,2} [0-9:]{8} ")
_TAG = re.compile(r" ?(?:([^\s:\[\]]{1,255}) )?([A-Za-z][\w./-]{0,48})(\[[0-9]{1,10}\])?: ")
_KERNEL_TAGS = frozenset({"kernel", "NVRM"})
MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """One record. ``text`` has no prefix; lines of one record stay together, joined by newlines.

    ``seq`` is the kernel's sequence number, ``uptime`` microseconds since boot, ``at`` a calendar time, each where the
    log says so. ``tag`` is the program that a syslog line names; None and "kernel" are the kernel itself. ``facility``
    is 0 for the kernel; others were written into its log from outside.
    """

    text: str
    seq: int | None = None
    uptime: int | None = None
    at: datetime | None = None
    tag: str | None = None
    facility: int = 0


def parse_record(raw: str) -> KernelRecord:
    """Return *raw*, one record of a kernel log (it may hold line breaks), taken apart."""
    match = _KMSG.match(raw)
    if match:
        prefix, seq, uptime, _ = match.groups()
        text = unescape(_without_properties(raw[match.end() :]))
        return KernelRecord(text, seq=int(seq), uptime=int(uptime), facility=int(prefix) >> 3)
    return _parse_plain(raw)


def unescape(text: str) -> str:
    r"""Return *text* with the kernel's ``\xNN`` escapes (of UTF-8 bytes) undone."""
    if "\\x" not in text:
        return text
    raw = text.encode("utf-8", "surrogateescape")
    undone = re.sub(rb"\\x([0-9a-fA-F]{2})", lambda match: bytes([int(match[1], 16)]), raw)
    return undone.decode("utf-8", "replace")


def _without_properties(text: str) -> str:
    """Drop the ` KEY=value` lines (SUBSYSTEM, DEVICE) that follow a record in /dev/kmsg."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(line for line in rest if not line.startswith(" "))]).rstrip("\n")


def _parse_plain(raw: str) -> KernelRecord:
    first, newline, rest = raw.replace("#012", "\n").rstrip("\n").partition("\n")
    text, uptime, at, tag = first, None, None, None
    for _ in range(4):  # prefixes stand in one another: syslog time, host and tag, then the kernel's own brackets
        before = text
        if match := (_LEVEL.match(text) or _DECODED.match(text) or _CALENDAR.match(text) or _SYSLOG.match(text)):
            text = text[match.end() :]
        if match := _ISO.match(text):
            at, text = _calendar_time(match[1]), text[match.end() :]
        if match := _UPTIME.match(text):
            uptime = _microseconds(match) if match[1] else uptime
            text = text[match.end() :]
        if tag is None and (match := _TAG.match(text)) and _is_tag(match, first):
            tag = match[2]
            text = text[match.end() :] if tag != "NVRM" else text[match.start(2) :]
        if text == before:
            break
    return KernelRecord(text + newline + rest, uptime=uptime, at=at, tag=tag)


def _is_tag(match: re.Match[str], line: str) -> bool:
    """Tell a program's name from the kernel's own ``subsystem: text``: `kernel`, or what follows time and host."""
    host, name, _ = match.groups()
    return name == "kernel" or (host is not None and bool(_SYSLOG.match(line) or _ISO.match(line)))


def is_from_kernel(record: KernelRecord) -> bool:
    """Tell whether the kernel said it; in a syslog file any user can write what looks like the kernel's words."""
    return record.tag is None or record.tag in _KERNEL_TAGS


def _microseconds(match: re.Match[str]) -> int:
    return int(match[1]) * MICROSECONDS + int(match[2][:6].ljust(6, "0"))


def _calendar_time(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.replace(",", "."))
    except ValueError:
        return None
    return moment if moment.tzinfo else None

r"""One record of a kernel log, whatever log it stands in, taken apart: when, from whom, what.

Forms (Documentation/ABI/testing/dev-kmsg of the kernel; dmesg(1); journalctl(1); rsyslog's forms, RFC 3164 and 5424):

    6,3973,227996636,-;text                 /dev/kmsg: prefix, sequence, microseconds since boot, flags; \x0a escapes
    <6>[ 7123021.707761] text               raw dmesg; also without <6>; with [ T12] or [ C3], the caller, behind it
    [Sun Feb 23 16:24:18 2025] text         dmesg -T; dmesg -e [Feb23 16:24]; dmesg -d [  12.1 <    0.000004>]
    kern  :warn  : 2025-01-21T04:41:44,283302+00:00 text       dmesg --decode --time-format iso
    Jan 21 11:18:36 host kernel: [ 8609389.400811] text        syslog; line breaks as #012; journalctl -o short-precise
    2019-08-19T04:18:38.274664-04:00 host kernel: text         syslog with RFC 3339 times; journalctl -o short-iso
    <4>1 2019-08-19T04:18:38Z host kernel - - - text           RFC 5424

Decides what is prefix and what is text, and never fails: a line in no known form is all text. It must not know faults.
"""

import re
from datetime import datetime
from typing import NamedTuple

_KMSG = re.compile(r"([0-9]{1,10}),([0-9]{1,20}),([0-9]{1,20}),[^;\n]{0,200};")
_LEVEL = re.compile(r"<([0-9]{1,3})>(?:1 (?=[0-9]{4}-))?")
_UPTIME = re.compile(
    r"\[ {0,12}(?:([0-9]{1,10})\.([0-9]{1,9})(?: < {0,12}[0-9.]{1,24}>)?|[+ 0-9.]{1,24}|\.\.\.)\]"
    r"(?: ?\[ {0,12}[TC][0-9]{1,10}\])?\s?"
)
_CALENDAR = re.compile(
    r"\[(?:(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} {0,2}[0-9]{1,2} [0-9:]{5,8}(?: [0-9]{4})?(?: < {0,12}[0-9.]{1,24}>)?"
    r"|[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ][0-9:]{8}(?:[.,][0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)\]\s?"
)
_DECODED = re.compile(r"([a-z0-9]{2,8}) {0,6}:[a-z]{2,8} {0,6}: ")
_ISO = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:]{8}(?:[.,][0-9]{1,9})?(?:Z|[+-][0-9]{2}:?[0-9]{2}))\s")
_SYSLOG = re.compile(r"[A-Z][a-z]{2} {1,2}[0-9]{1,2} [0-9:]{8}(?:\.[0-9]{1,9})? ")
_OTHER_TIMES = re.compile(
    r"(?:[A-Z][a-z]{2} [0-9-]{10} [0-9:.]{8,15} [A-Z]{3,5}|[0-9]{9,11}\.[0-9]{6}"
    r"|[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}[T ][0-9:]{8}(?:[.,][0-9]{1,9})?"
    r"|[A-Z][a-z]{2} [A-Z][a-z]{2} {1,2}[0-9]{1,2} [0-9:]{8} [0-9]{4}) "
)
_TAG = re.compile(r" ?(?:([^\s:\[\]]{1,255}) )?([A-Za-z][\w./-]{0,48})(\[[0-9]{1,10}\])?: ")
_RFC_5424 = re.compile(
    r"([^\s:\[\]]{1,255}) ([A-Za-z][\w./-]{0,48}) (?:-|[0-9]{1,10}) \S{1,32} (?:-|\[[^\]\n]{0,400}\]) "
)
_KERNEL_TAGS = frozenset({"kernel", "NVRM"})
_KERNEL_FACILITY, _OTHER_FACILITY = "kern", 1
_PREFIXES = 5  # they stand in one another: syslog time, host and tag, then the kernel's own brackets
MICROSECONDS = 1_000_000


class KernelRecord(NamedTuple):
    """One record. ``text`` has no prefix; lines of one record stay together, joined by newlines.

    ``seq`` is the kernel's sequence number, ``uptime`` microseconds since boot, ``at`` a calendar time, each where the
    log says so. ``tag`` is the program that a syslog line names; None and "kernel" are the kernel itself. ``facility``
    is 0 for the kernel; others were written into its log from outside. A tuple, since one is made for every record.
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
    if match is None:
        return _parse_plain(raw)
    prefix, seq, uptime = match.groups()
    text = raw[match.end() :]
    if "\n" in text:
        text = _without_properties(text)
    if "\\x" in text:
        text = unescape(text)
    return KernelRecord(text, int(seq), int(uptime), None, None, int(prefix) >> 3)


def unescape(text: str) -> str:
    r"""Return *text* with the kernel's ``\xNN`` escapes (of UTF-8 bytes) undone."""
    raw = text.encode("utf-8", "surrogateescape")
    undone = re.sub(rb"\\x([0-9a-fA-F]{2})", lambda match: bytes([int(match[1], 16)]), raw)
    return undone.decode("utf-8", "replace")


def _without_properties(text: str) -> str:
    """Drop the ` KEY=value` lines (SUBSYSTEM, DEVICE) that follow a record in /dev/kmsg."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(line for line in rest if not line.startswith(" "))]).rstrip("\n")


def _parse_plain(raw: str) -> KernelRecord:
    if "#01" in raw:  # rsyslog writes control characters as #ooo
        raw = raw.replace("#012", "\n").replace("#011", "\t")
    first, newline, rest = raw.rstrip("\n").partition("\n")
    prefix = _Prefix(first)
    for _ in range(_PREFIXES):
        if not prefix.strip():
            break
    return KernelRecord(prefix.text + newline + rest, None, prefix.uptime, prefix.at, prefix.tag, prefix.facility)


class _Prefix:
    """What stands before the text of one line; `strip` takes the next part off."""

    __slots__ = ("at", "facility", "line", "tag", "text", "uptime")

    def __init__(self, line: str) -> None:
        self.line = self.text = line
        self.uptime: int | None = None
        self.at: datetime | None = None
        self.tag: str | None = None
        self.facility = 0

    def strip(self) -> bool:
        """Take one part of the prefix off, if there is one."""
        before = len(self.text)
        first = self.text[:1]
        if first == "[":
            self._brackets()
        elif first == "<" and (match := _LEVEL.match(self.text)):
            self.facility = int(match[1]) >> 3
            self.text = self.text[match.end() :]
        elif first.isdigit() or first.isupper():
            self._time()
        elif first.isalpha() and (match := _DECODED.match(self.text)):
            self.facility = 0 if match[1] == _KERNEL_FACILITY else _OTHER_FACILITY
            self.text = self.text[match.end() :]
        if len(self.text) == before:
            self._program()
        return len(self.text) < before

    def _brackets(self) -> None:
        if match := _UPTIME.match(self.text):
            self.uptime = _microseconds(match) if match[1] else self.uptime
            self.text = self.text[match.end() :]
        elif match := _CALENDAR.match(self.text):
            self.text = self.text[match.end() :]

    def _time(self) -> None:
        if match := _ISO.match(self.text):
            self.at, self.text = _calendar_time(match[1]), self.text[match.end() :]
            if self.tag is None and self.line[:1] == "<" and (match := _RFC_5424.match(self.text)):
                self.tag, self.text = match[2], self.text[match.end() :]
        elif match := _SYSLOG.match(self.text) or _OTHER_TIMES.match(self.text):
            self.text = self.text[match.end() :]

    def _program(self) -> None:
        if self.tag is None and (match := _TAG.match(self.text)) and _is_tag(match, self.line):
            self.tag = match[2]
            self.text = self.text[match.end() if self.tag != "NVRM" else match.start(2) :]


def _is_tag(match: re.Match[str], line: str) -> bool:
    """Tell a program's name from the kernel's own ``subsystem: text``: `kernel`, or what follows time and host."""
    host, name, _ = match.groups()
    if name == "kernel":
        return True
    if line[:1] == "<" and (level := _LEVEL.match(line)):
        line = line[level.end() :]
    return host is not None and bool(_SYSLOG.match(line) or _ISO.match(line) or _OTHER_TIMES.match(line))


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

"""One message that was printed as several records, back together; two lines about one kill, as one.

The driver prints some messages in several lines. /dev/kmsg mostly keeps them in one record, but a log file has a record
a line, and the kernel splits what is printed in pieces:

    NVRM: The NVIDIA GPU 0000:b3:00.0                             oom-kill:constraint=...,task=python,pid=36,uid=0
    NVRM: (PCI ID: 10de:26b5) installed in this system has        Out of memory: Killed process 36 (python) ...
    NVRM: fallen off the bus and is not responding to commands.

A record that opens such a message is held back with those behind it until the message is whole, another one opens, the
log's own time has passed a second, eight records have come, or nothing more does. Then all go on in their order, the
whole text in the first and nothing in its continuations: no place is ever told before a record that is not done, and
the same log gives the same records after a restart.

Decides what belongs together. It must not know what a message means.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.follow.reader import MICROSECONDS, LogGap, LogRecord

Item = LogRecord | LogGap

_HELD_AT_MOST = 8
_TICKS_AT_MOST = MICROSECONDS


@dataclass(frozen=True, slots=True)
class _Message:
    """Begins with one of *openers*; a record with one of *continues* goes on with it, the *closer* ends it."""

    openers: tuple[str, ...]
    continues: tuple[str, ...]
    closer: str
    same: re.Pattern[str] | None = None  # what must be equal in both


_MESSAGES = (
    # kernel-open/nvidia/nv-pci.c, nv_pci_probe
    _Message(
        ("NVRM: The NVIDIA GPU ",),
        ("NVRM: (PCI ID: ", "NVRM: installed in this system", "NVRM: fallen off the bus", "fallen off the bus"),
        "fallen off the bus",
    ),
    # src/nvidia/arch/nvalloc/unix/src/osapi.c, rm_perform_version_check
    _Message(
        ("NVRM: API mismatch: ",),
        ("NVRM: this kernel module", "NVRM: has the version", "NVRM: the version", "NVRM: but this NVIDIA"),
        "this kernel module has the version",
    ),
    # mm/oom_kill.c: dump_oom_summary, then __oom_kill_process; before 5.0 "Kill process" and "Killed process"
    _Message(
        ("oom-kill:constraint=", "Out of memory: Kill process ", "Memory cgroup out of memory: Kill process "),
        ("Out of memory: Killed process ", "Memory cgroup out of memory: Killed process ", "Killed process "),
        "Killed process ",
        re.compile(r"(?:,pid=|Kill(?:ed)? process )([0-9]{1,10})"),
    ),
)
_OPENERS = tuple(opener for message in _MESSAGES for opener in message.openers)


class Joiner:
    """Between a reader and what it is read for. One thread uses it."""

    def __init__(self) -> None:
        """Hold nothing."""
        self._held: list[Item] = []
        self._message: _Message | None = None
        self._text: list[str] = []

    def take(self, items: Sequence[Item]) -> list[Item]:
        """Return what can go on now that *items* came, in order; no items at all: whatever is held goes on."""
        if not items:
            return self._release()
        done: list[Item] = []
        for item in items:
            done += self._next(item)
        return done

    def _next(self, item: Item) -> list[Item]:
        if isinstance(item, LogGap):
            return [*self._release(), item]
        text = item.record.text
        if text.startswith(_OPENERS):
            done = self._release()
            return [*done, *self._open(item, text)]
        if self._message is None:
            return [item]
        return self._continue(self._message, item, text)

    def _open(self, item: LogRecord, text: str) -> list[Item]:
        message = next(one for one in _MESSAGES if text.startswith(one.openers))
        if message.closer in text:  # all in one record
            return [item]
        self._held, self._message, self._text = [item], message, [text]
        return []

    def _continue(self, message: _Message, item: LogRecord, text: str) -> list[Item]:
        if text.startswith(message.continues) and self._is_same(message, text):
            self._text.append(text)
            item = item._replace(record=item.record._replace(text=""))
            self._held.append(item)
            return self._release() if message.closer in " ".join(self._text[1:]) else []
        self._held.append(item)
        return self._release() if self._is_enough(item) else []

    def _is_same(self, message: _Message, text: str) -> bool:
        if message.same is None:
            return True
        first, this = message.same.search(self._text[0]), message.same.search(text)
        return first is not None and this is not None and first[1] == this[1]

    def _is_enough(self, item: LogRecord) -> bool:
        first = self._held[0]
        assert isinstance(first, LogRecord), "a gap is never held"
        return len(self._held) >= _HELD_AT_MOST or not 0 <= item.ticks - first.ticks < _TICKS_AT_MOST

    def _release(self) -> list[Item]:
        held, self._held, self._message = self._held, [], None
        if len(self._text) > 1 and isinstance(held[0], LogRecord):
            held[0] = held[0]._replace(record=held[0].record._replace(text="\n".join(self._text)))
        self._text = []
        return held

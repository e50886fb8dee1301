"""One beat file: made whole, mapped, written in single stores, locked as long as its process lives.

It must not know which folder is right or which process may have one. Plain stores through typed views, not
`struct.pack_into`: that clears its target first (CPython's s_pack_internal begins with memset), and an agent that looks
in between would read a beat at time zero. A view stores each aligned field by one memcpy of its size.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import secrets
import struct
import time

from relight_training.layout import (
    BEAT_AT,
    BEATS,
    ENDED,
    FULFILLED,
    HEADER_AT,
    HEADER_LENGTH_AT,
    HEADER_LIMIT,
    MAGIC,
    OWN,
    PHASE,
    REQUEST,
    SAVE_AT,
    SAVE_STEP,
    SAVED_STEP,
    SAVES,
    SIZE,
    STARTING,
    STEP,
    TRAIN,
    UNKNOWN_STEP,
)

# Runs on in suspend, like the agent's. Elsewhere than Linux there is no agent; the clock only must not be missing.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_now = time.clock_gettime_ns
_LOOK_EVERY = 10_000_000_000  # ns
_NO_PHASE_YET = frozenset({0, STARTING, ENDED})


class BeatFile:
    """The mapped file of this process."""

    def __init__(self, path: str, descriptor: int) -> None:
        """Map *descriptor*, a whole page that is written already; it stays open for the lock's sake."""
        self.path = path
        self._descriptor = descriptor
        self._map = mmap.mmap(descriptor, SIZE)
        self._bytes = memoryview(self._map)
        self._unsigned = self._bytes.cast("Q")
        self._signed = self._bytes.cast("q")
        self._words = self._bytes.cast("I")
        self._beats = 0
        self._seen = 0
        self._look_at = 0

    def beat(self, step: int | None, phase: int | None, own: float | None = None) -> bool:
        """Write one beat; None leaves a field as it is, *own* seconds are added to those before.

        TypeError or ValueError for a step that is no i64, or seconds that are none.
        False when the file is no longer where the agent would find it, which is looked at each ten seconds.
        """
        if step is not None:
            self._signed[STEP] = step
            if phase is None and self._words[PHASE] in _NO_PHASE_YET:
                phase = TRAIN
        if phase is not None:
            self._words[PHASE] = phase
        if own is not None:
            self._unsigned[OWN] += int(own * 1e9)
        now = self._unsigned[BEAT_AT] = _now(_CLOCK)
        self._beats += 1
        self._unsigned[BEATS] = self._beats  # last: whoever sees the count change sees the rest
        if now < self._look_at:
            return True
        self._look_at = now + _LOOK_EVERY
        return os.fstat(self._descriptor).st_nlink > 0

    def request(self) -> int | None:
        """Return the token of a save that is asked for and not yet fulfilled."""
        token = self._seen = self._unsigned[REQUEST]
        return token if token and token != self._unsigned[FULFILLED] else None

    def fulfil(self, step: int, token: int | None) -> None:
        """Say that everything up to *step* is saved on the request *token*, or on the last one that `request` told.

        One that nobody had seen when the save began is not answered by it: it asks for a save from now on.
        """
        token = self._seen if token is None else token
        if token and token != self._unsigned[FULFILLED]:
            self._signed[SAVED_STEP] = step
            self._unsigned[FULFILLED] = token  # after the step, which it vouches for

    def saved(self, step: int) -> None:
        """Say that everything up to *step* is saved, asked for or not."""
        self._signed[SAVE_STEP] = step
        self._unsigned[SAVE_AT] = _now(_CLOCK)
        self._unsigned[SAVES] += 1  # last, as in a beat

    def take_over(self, before: BeatFile) -> None:
        """Say what *before* said last, whose file somebody removed."""
        self._signed[STEP], self._words[PHASE] = before._signed[STEP], before._words[PHASE]
        self._seen = before._seen
        self._unsigned[OWN], self._signed[SAVE_STEP] = before._unsigned[OWN], before._signed[SAVE_STEP]
        self._unsigned[SAVE_AT], self._unsigned[SAVES] = before._unsigned[SAVE_AT], before._unsigned[SAVES]
        self.fulfil(before._signed[SAVED_STEP], before._unsigned[FULFILLED] or None)

    def end(self) -> None:
        """Say goodbye: phase ended, then no file."""
        self._words[PHASE] = ENDED
        with contextlib.suppress(OSError):
            os.unlink(self.path)
        self.abandon()

    def abandon(self) -> None:
        """Let go of the map and leave the file as it is. In a forked child the parent's lock stays."""
        for view in (self._unsigned, self._signed, self._words, self._bytes):
            view.release()
        self._map.close()
        os.close(self._descriptor)


def make(folder: str, name: str, header: bytes) -> BeatFile:
    """Make the file of this process in *folder*; OSError when that cannot be.

    The page is written out before it is mapped: a store into a hole of a full file system would kill by SIGBUS. It
    appears under its name only when it is whole and locked.
    """
    stem = f"{name}-{secrets.token_hex(4)}"
    hidden, path = os.path.join(folder, f".{stem}.tmp"), os.path.join(folder, f"{stem}.beat")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(hidden, flags, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _fill(descriptor, _page(header))
        os.rename(hidden, path)
        return BeatFile(path, descriptor)
    except BaseException:
        os.close(descriptor)
        for left in (hidden, path):
            with contextlib.suppress(OSError):
                os.unlink(left)
        raise


def _fill(descriptor: int, page: bytes) -> None:
    if os.write(descriptor, page) != len(page):
        raise OSError("there is no room for one page")


def _page(header: bytes) -> bytes:
    if len(header) > HEADER_LIMIT:
        raise ValueError(f"the header has {len(header)} bytes, more than {HEADER_LIMIT}")
    page = bytearray(SIZE)
    page[: len(MAGIC)] = MAGIC
    struct.pack_into("<I", page, HEADER_LENGTH_AT, len(header))
    struct.pack_into("<Q", page, BEAT_AT * 8, _now(_CLOCK))
    struct.pack_into("<q", page, STEP * 8, UNKNOWN_STEP)
    struct.pack_into("<I", page, PHASE * 4, STARTING)
    struct.pack_into("<q", page, SAVED_STEP * 8, UNKNOWN_STEP)
    struct.pack_into("<q", page, SAVE_STEP * 8, UNKNOWN_STEP)
    page[HEADER_AT : HEADER_AT + len(header)] = header
    return bytes(page)

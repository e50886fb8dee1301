"""Which of the files that match are followed: the ones written last, and no more than a number.

Logs of old runs stay where they are; what stood in them when the agent was installed is old news, and a file that
appears later is read from its beginning. Decides where each file is begun. It must not read files.
"""

import glob
import logging
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

log = logging.getLogger(__name__)

_MATCHES_LOOKED_AT = 4096
_COMPRESSED = (".gz", ".xz", ".zst", ".bz2")
# logrotate's names: log.1, log-20260131, log-20260131-1769846400, log.1.20260131
_ROTATED_NAME = re.compile(r"^(.+?)(?:[.-](?:[0-9]{1,3}|[0-9]{8}|[0-9]{10}))+$")
_IDLE_SECONDS = 15 * 60.0  # a file that is not written to for so long gives its descriptor to others


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file as it is now."""

    path: Path
    inode: int
    device: int
    size: int
    written: float  # unix seconds


def matching(patterns: Sequence[str]) -> list[Candidate]:
    """Return the regular files that match *patterns*, the last written first; bounded, compressed ones left out."""
    names = dict.fromkeys(islice(_names(patterns), _MATCHES_LOOKED_AT + 1))
    if len(names) > _MATCHES_LOOKED_AT:
        log.warning("more training logs match than are looked at", extra={"looked_at": _MATCHES_LOOKED_AT})
    found = (_candidate(name) for name in islice(names, _MATCHES_LOOKED_AT))
    return sorted((one for one in found if one), key=lambda one: (-one.written, str(one.path)))


def _names(patterns: Sequence[str]) -> Iterable[str]:
    for pattern in patterns:
        yield from glob.iglob(pattern, recursive=True)  # noqa: PTH207 - Path.glob takes no absolute pattern


def _candidate(name: str) -> Candidate | None:
    if name.endswith(_COMPRESSED):
        return None
    try:
        status = os.stat(name)  # noqa: PTH116 - thousands of names, most of them not wanted
    except OSError:
        return None
    if not os.path.isfile(name):  # noqa: PTH113 - as above
        return None
    return Candidate(Path(name), status.st_ino, status.st_dev, status.st_size, status.st_mtime)


class Selection:
    """Remembers what was there when, for one process. One thread uses it."""

    def __init__(self, at_most: int, looked_before: float | None) -> None:
        """Choose up to *at_most* files; *looked_before* is when an agent last looked (unix seconds), None: never."""
        self._at_most = at_most
        self._looked_before = looked_before
        self._old: dict[Path, int] | None = None  # files of before the first look, and how long they were
        self._names: set[str] = set()  # those of now, and those that only rotated files are left of
        self._begun: set[Path] = set()
        self.left_out = 0  # how many files the last choice had no room for

    def choose(self, found: Sequence[Candidate], followed: Mapping[Path, int], now: float) -> list[Candidate]:
        """Return the files to follow from now on, given those *followed* so far and their inodes."""
        if self._old is None:
            self._old = {one.path: one.size for one in found if self._is_old(one) and one.path not in followed}
        self._names = {*islice(self._names & _parents(found), _MATCHES_LOOKED_AT), *(str(one.path) for one in found)}
        lively = [
            one
            for one in found
            if now - one.written < _IDLE_SECONDS
            and self._old.get(one.path) != one.size
            and (one.path in followed or not _is_rotated(one, self._names, followed))
        ]
        self.left_out = max(0, len(lively) - self._at_most)
        return lively[: self._at_most]

    def rotated_unread(self, one: Candidate, found: Sequence[Candidate]) -> Candidate | None:
        """Return the oldest file that *one*, now followed for the first time, was rotated to since we last looked."""
        if one.path in self._begun or self.start_of(one):
            return None
        names = {str(one.path)}
        old = self._old or {}
        unread = [other for other in found if other.path not in old and names & _parents([other])]
        return unread[-1] if unread else None

    def begin(self, one: Candidate) -> None:
        """Remember that *one* is followed: what it is rotated to from now on is read by its tail."""
        self._begun.add(one.path)

    def start_of(self, one: Candidate) -> int:
        """Return the offset at which to begin a file that has no place yet."""
        size = (self._old or {}).get(one.path, 0)
        return size if size <= one.size else 0

    def _is_old(self, one: Candidate) -> bool:
        """Where nobody looked before all files are old; later those that were last written before the last look."""
        return self._looked_before is None or one.written < self._looked_before


def _is_rotated(one: Candidate, names: set[str], followed: Mapping[Path, int]) -> bool:
    """Tell whether the file is what another's log was rotated to: that one's tail reads it to its end."""
    return not _parents([one]).isdisjoint(names) or one.inode in followed.values()


def _parents(found: Iterable[Candidate]) -> set[str]:
    """Return the names that files were rotated from, if they were."""
    matches = (_ROTATED_NAME.match(str(one.path)) for one in found)
    return {match[1] for match in matches if match}

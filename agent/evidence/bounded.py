"""Files that take no more than they may, and reads that never leave the folder they were sent to.

Decides bounds in bytes, modes, and that no symbolic link leads anywhere else: what stands in a container was written by
whoever trains there. It must not know what is collected. Standard library only: it runs in a child process as well.
"""

import ctypes
import errno
import os
import stat
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

CHUNK_BYTES = 64 * 1024
# linux/openat2.h; the same number on x86_64 and arm64. EPERM: a container's seccomp profile that does not know it.
_OPENAT2, _RESOLVE_NO_MAGICLINKS, _RESOLVE_IN_ROOT = 437, 0x02, 0x10
_NO_OPENAT2 = frozenset({errno.ENOSYS, errno.EPERM})
_PATH_ONLY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class BoundedFile:
    """A new file of mode 0600 that takes *limit* bytes; what comes after is dropped and ``cut`` set."""

    def __init__(self, path: Path, limit: int) -> None:
        """Begin it anew; OSError when it cannot be."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        self._descriptor = os.open(path, flags, 0o600)
        self._left = limit
        self.size = 0
        self.cut = False

    def write(self, data: bytes) -> bool:
        """Take what fits of *data*; tell whether more would."""
        kept = data[: self._left]
        view = memoryview(kept)
        while view:
            view = view[os.write(self._descriptor, view) :]
        self._left -= len(kept)
        self.size += len(kept)
        self.cut = self.cut or len(kept) < len(data)
        return self._left > 0

    def line(self, text: str) -> bool:
        """Take *text* and a newline."""
        return self.write(text.encode("utf-8", "replace") + b"\n")

    def close(self) -> None:
        """Let go of it."""
        os.close(self._descriptor)


def open_below(root: Path, path: str, owner: int | None = None) -> int:
    """Return a descriptor of the regular file *path* seen from *root*; OSError if it is none, or a link.

    Links on the way are resolved within the root, as the process itself sees them (openat2(2), Linux 5.6); where the
    kernel cannot do that they are refused. *owner* refuses a file of any other user: what the process names is not
    what it wrote. The root itself may be a link (/proc/<pid>/root is one).
    """
    # A fifo would block the open, a device might do anything when it is read.
    descriptor = _open(root, path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or (owner is not None and status.st_uid != owner):
        os.close(descriptor)
        why = "belongs to another user" if stat.S_ISREG(status.st_mode) else "is no regular file"
        raise OSError(errno.EPERM, why, path)
    return descriptor


def names_below(root: Path, folder: str, at_most: int) -> list[str]:
    """Return up to so many names in *folder* seen from *root*; OSError when it cannot be read."""
    descriptor = _open(root, folder or ".", _PATH_ONLY)
    try:
        with os.scandir(descriptor) as entries:
            return [entry.name for entry in islice(entries, at_most)]
    finally:
        os.close(descriptor)


class _How(ctypes.Structure):
    """struct open_how of linux/openat2.h."""

    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def _open(root: Path, path: str, flags: int) -> int:
    parts = [part for part in PurePosixPath(path).parts if part != "/"] or ["."]
    if ".." in parts:
        raise OSError(errno.EINVAL, "is no path below a root", path)
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return _openat2(folder, "/".join(parts), flags)
    except OSError as error:
        if error.errno not in _NO_OPENAT2:
            raise
        return _walk(folder, parts, flags)
    finally:
        os.close(folder)


def _openat2(folder: int, path: str, flags: int) -> int:
    how = _How(flags, 0, _RESOLVE_IN_ROOT | _RESOLVE_NO_MAGICLINKS)
    libc = ctypes.CDLL(None, use_errno=True)
    opened: int = libc.syscall(_OPENAT2, folder, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how))
    if opened < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), path)
    return opened


def _walk(folder: int, parts: list[str], flags: int) -> int:
    """Open part by part, each by its parent's descriptor and no link among them."""
    folder = os.dup(folder)
    try:
        for part in parts[:-1]:
            below = os.open(part, _PATH_ONLY, dir_fd=folder)
            os.close(folder)
            folder = below
        return os.open(parts[-1], flags, dir_fd=folder)
    finally:
        os.close(folder)


def chunks(descriptor: int, limit: int, *, tail: bool = False) -> Iterator[bytes]:
    """Yield at most *limit* bytes of an open file, its last ones if *tail*."""
    if tail:
        os.lseek(descriptor, max(0, os.fstat(descriptor).st_size - limit), os.SEEK_SET)
    while limit > 0 and (chunk := os.read(descriptor, min(CHUNK_BYTES, limit))):
        limit -= len(chunk)
        yield chunk


def read_text(path: Path, limit: int = CHUNK_BYTES) -> str:
    """Return up to *limit* bytes of a file of the kernel's as text; OSError when it cannot be read."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return b"".join(chunks(descriptor, limit)).decode("utf-8", "replace")
    finally:
        os.close(descriptor)


def text_or_why(path: Path, limit: int = CHUNK_BYTES) -> str:
    """Return the same stripped, or in brackets why it cannot be read."""
    try:
        return read_text(path, limit).strip()
    except OSError as error:
        return f"({error.strerror})"

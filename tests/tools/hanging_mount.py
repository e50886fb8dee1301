"""A file system that is really mounted and whose server never answers, or answers late: FUSE spoken by hand.

Needs root, /dev/fuse and a kernel with FUSE; `mounted` raises OSError where one is missing. The mount lives in this
process's own mount namespace, or wherever the caller unshared it to. Protocol: include/uapi/linux/fuse.h.
"""

import ctypes
import os
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_INIT, _STATFS, _GETATTR, _FORGET, _DESTROY = 26, 17, 3, 2, 38
_HEADER = struct.Struct("<IIQQIIII")
_ANSWER = struct.Struct("<IiQ")
_MNT_DETACH = 2


class HangingMount:
    """Answers the kernel's greeting, and everything else only once `answers` is set."""

    def __init__(self, folder: Path) -> None:
        self.answers = threading.Event()
        self._descriptor = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
        options = f"fd={self._descriptor},rootmode=40000,user_id=0,group_id=0,allow_other"
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mount(b"relight-test", os.fsencode(folder), b"fuse", 0, options.encode()):
            code = ctypes.get_errno()
            os.close(self._descriptor)
            raise OSError(code, os.strerror(code))
        self._folder, self._libc = folder, libc
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Unmount; whoever waits gets ENOTCONN or an answer, and ends."""
        self.answers.set()
        self._libc.umount2(os.fsencode(self._folder), _MNT_DETACH)
        self._thread.join(5)
        os.close(self._descriptor)

    def _serve(self) -> None:
        while True:
            try:
                request = os.read(self._descriptor, 1 << 20)
            except OSError:
                return  # unmounted
            _length, code, unique, *_ = _HEADER.unpack_from(request)
            if code == _INIT:
                self._reply(unique, struct.pack("<IIIIHHIIHHI7I", 7, 31, 0, 0, 0, 0, 4096, 0, 0, 0, 0, *[0] * 7))
                continue
            self.answers.wait()
            if code == _STATFS:
                self._reply(unique, struct.pack("<QQQQQIIII6I", 1000, 500, 400, 100, 50, 4096, 255, 4096, 0, *[0] * 6))
            elif code == _GETATTR:
                attributes = struct.pack("<QQQQQQIIIIIIIIII", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o040755, 2, 0, 0, 0, 4096, 0)
                self._reply(unique, struct.pack("<QII", 0, 0, 0) + attributes)
            elif code not in (_FORGET, _DESTROY):
                self._reply(unique, b"", error=-38)

    def _reply(self, unique: int, body: bytes, error: int = 0) -> None:
        try:
            os.write(self._descriptor, _ANSWER.pack(_ANSWER.size + len(body), error, unique) + body)
        except OSError:
            return  # nobody waits for it any more


@contextmanager
def mounted(folder: Path) -> Iterator[HangingMount]:
    """Mount at *folder* and unmount whatever happens; OSError where that is not possible here."""
    mount = HangingMount(folder)
    try:
        yield mount
    finally:
        mount.close()

"""One rank of the simulated job as a real process: it beats when it is told a step, and can be stopped and killed.

    python -I -S rank.py FILE HEADER        FILE is its beat file, HEADER what it says of itself (JSON)

Each line on stdin is `STEP PHASE SAVED`, the newest whole checkpoint of the job or -1: one that comes while the rank
lives is told as its save. When stdin ends, so does the rank. The form of the file is that of the training
library (training/relight_training). The standard library only: eight of these start with every run.
"""

import json
import os
import struct
import sys
import time

_SIZE, _HEADER_AT = 4096, 512
_BEATS_AT, _PHASE_AT, _SAVES_AT = 16, 40, 64
_STARTING, _ENDED = 1, 7


def _create(path: str, header: dict[str, object]) -> int:
    told = {**header, "pid": os.getpid(), "pid_namespace": os.stat("/proc/self/ns/pid").st_ino}  # noqa: PTH116 - no pathlib here
    raw = json.dumps(told).encode()
    page = bytearray(_SIZE)
    struct.pack_into("<8sI4xQQqI", page, 0, b"RLBEAT01", len(raw), 0, 0, -1, _STARTING)
    page[_HEADER_AT : _HEADER_AT + len(raw)] = raw
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
    os.write(descriptor, page)
    return descriptor


def main() -> None:
    """Beat until stdin ends."""
    path, header = sys.argv[1:]
    descriptor = _create(path, json.loads(header))
    saves, before = 0, None
    for beats, line in enumerate(sys.stdin, 1):
        step, phase, saved = map(int, line.split())
        now = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        os.pwrite(descriptor, struct.pack("<QQqI", beats, now, step, phase), _BEATS_AT)
        if before is not None and saved != before:
            saves += 1
            os.pwrite(descriptor, struct.pack("<QQq", saves, now, saved), _SAVES_AT)
        before = saved
    os.pwrite(descriptor, struct.pack("<I", _ENDED), _PHASE_AT)


if __name__ == "__main__":
    main()

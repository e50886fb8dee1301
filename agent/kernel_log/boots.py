"""Where in a file of kernel messages this boot begins.

A kernel's first line is its banner; what stands before the last one was said by a kernel that is gone, and its times
since boot would be taken for this boot's. It must not know faults.

Source: init/version.c, linux_banner ("Linux version %s ...").
"""

import mmap
import os
import re

_BANNER = b"Linux version "
# The banner is the kernel's own line: nothing but the prefixes of the log stands before it.
_PREFIX = re.compile(rb"(?:^|[\];:])\s?$")
_LONGEST_PREFIX = 200
_LOOKED_AT_BYTES = 256 * 1024 * 1024  # from the end; finding a word in it takes some 50 ms


def boot_begins(descriptor: int) -> int:
    """Return the offset of the line with the last banner in the open file, 0 without one."""
    size = os.fstat(descriptor).st_size
    if not size:
        return 0
    first = max(0, size - _LOOKED_AT_BYTES) // mmap.ALLOCATIONGRANULARITY * mmap.ALLOCATIONGRANULARITY
    with mmap.mmap(descriptor, size - first, prot=mmap.PROT_READ, offset=first) as view:
        at = view.rfind(_BANNER)
        while at >= 0:
            line = view.rfind(b"\n", 0, at) + 1
            if at - line < _LONGEST_PREFIX and _PREFIX.search(view[line:at]):
                return first + line
            at = view.rfind(_BANNER, 0, at)
    return 0

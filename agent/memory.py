"""Takes little memory, and gives back what was only needed to load something. It must not know what was loaded.

The allocator keeps what is free between what is not, since it may be wanted again; after the SDK's tables were read,
or most of a module was dropped, it never is: some MiB of the 80 that the agent promises.
"""

import ctypes
import gc
from contextlib import suppress

_M_ARENA_MAX = -8  # malloc.h; mallopt(3)


def share_one_arena() -> None:
    """Let all threads take memory from one place: each would get one of its own, with holes of its own.

    Ours mostly wait, so that none waits for another there. To be called before there are threads.
    """
    with suppress(AttributeError):  # not glibc
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def give_back() -> None:
    """Collect what is unused and return it to the system; a C library that cannot (musl) keeps it."""
    gc.collect()
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)

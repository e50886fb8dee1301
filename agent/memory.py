"""Gives memory back that was only needed to load something. It must not know what was loaded.

The allocator keeps what is free between what is not, since it may be wanted again; after the SDK's tables were read,
or most of a module was dropped, it never is: some MiB of the 80 that the agent promises.
"""

import ctypes
import gc
from contextlib import suppress


def give_back() -> None:
    """Collect what is unused and return it to the system; a C library that cannot (musl) keeps it."""
    gc.collect()
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)

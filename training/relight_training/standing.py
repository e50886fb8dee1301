"""Whether this process is one that trains, and how its end is seen.

Loader workers, pools and other daemonic helpers import the training script too (spawn does so by itself): they get no
file, or the agent would take each for a second, silent rank. It looks only at modules that are loaded already.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from typing import Any, Callable


def is_helper() -> bool:
    """Whether this is a worker of a DataLoader, a pool or another daemonic child of multiprocessing.

    So is a child that is still importing the training script (`_inheriting`): what it will be shows only afterwards.
    """
    for library in ("multiprocessing.process", "multiprocess.process"):
        current = getattr(sys.modules.get(library), "current_process", None)
        if current is not None and (current().daemon or getattr(current(), "_inheriting", False)):
            return True
    worker = getattr(sys.modules.get("torch.utils.data"), "get_worker_info", None)
    return worker is not None and worker() is not None


def at_fork(forget: Callable[[], None]) -> None:
    """Call *forget* in each child that Python forks."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget)


def at_end(goodbye: Callable[[], None]) -> None:
    """Call *goodbye* when this process ends in order, a forked child of multiprocessing (which skips atexit) too."""
    atexit.unregister(goodbye)
    atexit.register(goodbye)
    finalize = getattr(sys.modules.get("multiprocessing.util"), "Finalize", None)
    if finalize is not None:
        with contextlib.suppress(Exception):
            finalize(None, goodbye, exitpriority=0)


def after_each_cell(rest: Callable[[], None]) -> None:
    """In a notebook call *rest* whenever a cell has ended, well or not: the kernel lives on and trains nothing."""
    shell = _shell()
    if shell is not None:
        with contextlib.suppress(Exception):
            shell.events.register("post_run_cell", lambda *_: rest())


def dies_by_exception() -> bool:
    """Whether an exception that nobody caught ends this process. A shell keeps those of earlier cells: there, no."""
    caught = getattr(sys, "last_value", None) is not None or getattr(sys, "last_exc", None) is not None
    return caught and not hasattr(sys, "ps1") and not sys.flags.interactive and _shell() is None


def _shell() -> Any:  # noqa: ANN401 - IPython's shell, if it is loaded
    get = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return get() if get is not None else None

"""One answer of all ranks to a request that each sees at another step.

A save in which all ranks take part must begin at the same step everywhere, or it waits for ever. So the ranks take the
highest token that any of them sees, by one small all-reduce, and only at steps that all of them meet. Without
torch.distributed there is one rank. torch is looked for among what is loaded, never imported.
"""

from __future__ import annotations

import sys
from typing import Any

from relight_training.beats import save_requested

EVERY = 10
_OFFSET = 2**63  # maps a u64 onto an i64 in the same order; no token is the lowest


def agreed_save(step: int, every: int = EVERY) -> int | None:
    """Return the token of a save that all ranks shall now make, else None.

    All ranks must call it with the same *step*, after each step. With more than one rank it asks the others at steps
    that *every* divides: one all-reduce of 8 bytes, an exception if the ranks cannot speak (training could not either).
    """
    distributed = _distributed()
    if distributed is None:
        return save_requested()
    return highest(save_requested(), distributed) if step % max(1, every) == 0 else None


def highest(token: int | None, distributed: Any) -> int | None:
    """Return the highest token of all ranks, None when none has one. A collective."""
    torch = sys.modules["torch"]
    mine = torch.tensor([(token or 0) - _OFFSET], dtype=torch.int64, device=_device(distributed, torch))
    distributed.all_reduce(mine, op=distributed.ReduceOp.MAX)
    return int(mine.item()) + _OFFSET or None


def _distributed() -> Any:
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return distributed if distributed.get_world_size() > 1 else None


def _device(distributed: Any, torch: Any) -> Any:
    """Return where a tensor must lie for the default group to reduce it."""
    backend = str(distributed.get_backend())
    if backend in {"gloo", "mpi", "undefined"} or "cpu:" in backend:
        return torch.device("cpu")
    if backend == "nccl":
        return torch.device("cuda", torch.cuda.current_device())
    return torch.accelerator.current_accelerator()

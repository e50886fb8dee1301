"""The callback for Lightning: `Trainer(callbacks=[RelightCallback()])`.

It beats at each batch, tells phases, and makes the save that the agent asks for, at the end of an optimizer step, in
the folder and form of Lightning's own. Steps are `trainer.global_step`, optimizer steps, as in the names of Lightning's
checkpoints. Needs `lightning` or `pytorch_lightning`, whichever the program has loaded.
"""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
import time
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

from relight_training.agree import EVERY, agreed_save
from relight_training.beats import beat, start
from relight_training.resume import saved

log = logging.getLogger("relight_training")

_WRITTEN_SECONDS = 1800.0  # for one checkpoint on a slow disk; training waits for no more of it
_NAMES = ("lightning.pytorch", "pytorch_lightning")


def _base() -> Any:
    loaded = [name for name in _NAMES if name in sys.modules]
    there = loaded or [name for name in _NAMES if importlib.util.find_spec(name.partition(".")[0])]
    if not there:
        raise ImportError("relight_training.lightning needs Lightning: pip install lightning")
    return importlib.import_module(there[0]).Callback


class RelightCallback(_base()):  # type: ignore[misc]  # a class that mypy does not know
    """Beats and saves for one trainer. *every*: the steps at which ranks agree on a save; None for no such saves."""

    def __init__(self, every: int | None = EVERY) -> None:
        """Keep *every*; nothing is opened before a trainer calls."""
        super().__init__()
        self._every = every
        self._step = -1
        self._first = True
        self._written = ""
        self._tried: int | None = None
        self._stepped: float | None = None

    def setup(self, trainer: Any, *_: Any, **__: Any) -> None:
        """Make the file, with the ranks that the trainer knows."""
        start(rank=trainer.global_rank, local_rank=trainer.local_rank, world_size=trainer.world_size)
        beat(phase="starting")

    def on_train_start(self, trainer: Any, *_: Any, **__: Any) -> None:
        """Expect a long first batch: compilation, autotuning, communicators."""
        self._step, self._first = trainer.global_step, True
        beat(step=trainer.global_step, phase="compile")

    def on_train_batch_start(self, trainer: Any, *_: Any, **__: Any) -> None:
        """Leave whatever was before, a save say; if it was one of Lightning's own, it is whole now.

        Since the last batch's end this rank has read its next one, unless something else came between.
        """
        own = None if self._stepped is None else time.monotonic() - self._stepped
        self._stepped = None
        self._note(trainer)
        beat(phase="compile" if self._first else "train", own=own)

    def on_train_batch_end(self, trainer: Any, *_: Any, **__: Any) -> None:
        """Tell the step; save when that is asked for and gradients are not half accumulated."""
        self._first = False
        step = trainer.global_step
        beat(step=step, phase="train")
        self._stepped = time.monotonic()
        if step == self._step:
            return
        self._step = step
        token = agreed_save(step, self._every) if self._every else None
        self._stepped = time.monotonic()  # it may have waited for the others' answer
        if token is not None and token != self._tried:
            self._tried = token  # on all ranks alike: one that failed is not tried again
            self._save(trainer, step, token)

    def on_save_checkpoint(self, *_: Any, **__: Any) -> None:
        """Tell the phase: Lightning calls this before each save, its own and ours."""
        self._stepped = None
        beat(phase="save")

    def on_sanity_check_start(self, *_: Any, **__: Any) -> None:
        """Tell the phase."""
        beat(phase="evaluate")

    def on_validation_start(self, *_: Any, **__: Any) -> None:
        """Tell the phase."""
        self._stepped = None
        beat(phase="evaluate")

    def on_validation_batch_end(self, *_: Any, **__: Any) -> None:
        """Beat."""
        beat(phase="evaluate")

    def on_validation_end(self, trainer: Any, *_: Any, **__: Any) -> None:
        """Go on training; a validation of its own is torn down next."""
        if trainer.state.fn == "fit":
            beat(phase="starting" if trainer.sanity_checking else "train")

    def on_train_end(self, trainer: Any, *_: Any, **__: Any) -> None:
        """Tell of the last save."""
        self._note(trainer)

    on_test_start = on_predict_start = on_validation_start
    on_test_batch_end = on_predict_batch_end = on_validation_batch_end

    def teardown(self, *_: Any, **__: Any) -> None:
        """Expect nothing more: fit, test and the others end here, whether well or by an exception."""
        beat(phase="ended")

    def _save(self, trainer: Any, step: int, token: int) -> None:
        path = os.path.join(_folder(trainer), f"epoch={trainer.current_epoch}-step={step}.ckpt")
        try:
            trainer.save_checkpoint(path)
        except OSError as error:  # a full disk, say: the save was not training's own wish
            log.warning("the save that the agent asked for failed: %s", error)
            trainer.strategy.barrier("Trainer.save_checkpoint")  # the others wait there
        else:
            if _whole(trainer, wait=True):
                saved(step, path, token)
        beat(step=step, phase="train")

    def _note(self, trainer: Any) -> None:
        """Tell of what Lightning saved by itself since last asked; the path is the only trace that it leaves."""
        for callback in trainer.checkpoint_callbacks:
            path = getattr(callback, "_last_checkpoint_saved", "")
            if path and path != self._written and _whole(trainer, wait=False):
                self._written = path
                saved(int(getattr(callback, "_last_global_step_saved", trainer.global_step)), path)


def _whole(trainer: Any, *, wait: bool) -> bool:
    """Whether a save that has returned is on its disk; *wait* for one that a thread makes (AsyncCheckpointIO)."""
    writer = trainer.strategy.checkpoint_io
    executor = getattr(writer, "_executor", None)
    if executor is None:
        return True
    if wait:
        try:
            executor.submit(int).result(_WRITTEN_SECONDS)  # its one thread works in order
        except FutureTimeoutError:
            log.warning("the save that the agent asked for is not written after %d s", _WRITTEN_SECONDS)
            return False
    return wait and getattr(writer, "_error", None) is None


def _folder(trainer: Any) -> str:
    """Return where this trainer keeps checkpoints: its first ModelCheckpoint's folder, else its root."""
    for callback in trainer.checkpoint_callbacks:
        if getattr(callback, "dirpath", None):
            return str(callback.dirpath)
    return str(trainer.default_root_dir)

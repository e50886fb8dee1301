"""The callback for Hugging Face's Trainer: `Trainer(callbacks=[RelightCallback()])`.

It beats at each step and at each part of one that accumulates gradients, tells phases, and lets the Trainer save when
the agent asks for it. Steps are `state.global_step`, optimizer steps, as in `checkpoint-<step>`. Needs `transformers`.
"""

from __future__ import annotations

import importlib
import os
import time
from typing import Any

from relight_training.agree import EVERY, agreed_save
from relight_training.beats import beat, start
from relight_training.resume import saved


def _base() -> Any:
    try:
        return importlib.import_module("transformers").TrainerCallback
    except ModuleNotFoundError as error:
        if error.name != "transformers":
            raise
        raise ImportError("relight_training.hf needs transformers: pip install 'transformers[torch]'") from error


class RelightCallback(_base()):  # type: ignore[misc]  # a class that mypy does not know
    """Beats and saves for one trainer. *every*: the steps at which ranks agree on a save; None for no such saves."""

    def __init__(self, every: int | None = EVERY) -> None:
        """Keep *every*; nothing is opened before a trainer calls."""
        self._every = every
        self._token: int | None = None
        self._saved: tuple[int, str, int | None] | None = None
        self._training = False
        self._first = True
        self._stepped: float | None = None

    def on_init_end(self, args: Any, *_: Any, **__: Any) -> None:
        """Make the file, with the ranks that the Trainer knows."""
        start(rank=args.process_index, local_rank=args.local_process_index, world_size=args.world_size)
        beat(phase="starting")

    def on_train_begin(self, args: Any, state: Any, *_: Any, **__: Any) -> None:
        """Expect a long first step: compilation, autotuning, communicators."""
        self._training, self._first, self._token = True, True, None
        beat(step=state.global_step, phase="compile")

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        """Leave whatever was before, a save say; since the last step's end this rank has read its batches."""
        own = None if self._stepped is None else time.monotonic() - self._stepped
        self._stepped = None
        beat(phase="compile" if self._first else "train", own=own)

    def on_substep_end(self, *_: Any, **__: Any) -> None:
        """Beat within a step that accumulates gradients."""
        beat()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
        """Tell the step, ask for the save that the agent asks for, and tell what the Trainer does next."""
        self._first = False
        self._tell()
        token = agreed_save(state.global_step, self._every) if self._every else None
        if token is not None:
            self._token, control.should_save = token, True
        follows = _next(control)
        beat(step=state.global_step, phase=follows)
        self._stepped = time.monotonic() if follows == "train" else None
        return control

    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Tell what the Trainer does next."""
        self._stepped = None
        beat(phase=_next(control))

    def on_prediction_step(self, *_: Any, **__: Any) -> None:
        """Beat within an evaluation."""
        beat(phase="evaluate")

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Go on: to the save that is due, to training, or, after an evaluation of its own, to nothing."""
        beat(phase=("save" if control.should_save else "train") if self._training else "ended")

    def on_predict(self, *_: Any, **__: Any) -> None:
        """Expect nothing more."""
        beat(phase="train" if self._training else "ended")

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Remember the save, and the request that it answers. It is told at the end of the next step.

        The Trainer lets no rank wait for the others' files; a further step of all of them means that these are there.
        """
        step, token, self._token = state.global_step, self._token, None
        self._saved = step, os.path.join(args.output_dir, f"checkpoint-{step}"), token
        if args.world_size == 1:
            self._tell()
        beat(step=step, phase="train")

    def on_train_end(self, *_: Any, **__: Any) -> None:
        """Expect nothing more."""
        self._tell()
        self._training = False
        beat(phase="ended")

    def _tell(self) -> None:
        if self._saved is not None:
            done, self._saved = self._saved, None
            saved(*done)


def _next(control: Any) -> str:
    if control.should_evaluate:
        return "evaluate"
    return "save" if control.should_save else "train"

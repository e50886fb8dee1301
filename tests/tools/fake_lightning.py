"""The order in which Lightning calls a callback, and what it shows to one; of training nothing.

Read from lightning 2.6.6: trainer.py `_run`, `_run_stage`, `_run_sanity_check`, loops/training_epoch_loop.py `advance`,
callbacks/model_checkpoint.py `_save_checkpoint`. tests/frameworks holds the callback against Lightning itself.
"""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any


class Callback:
    """Lightning's: every hook is there and does nothing."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        """Answer any hook that is not written."""
        if name.startswith("on_") or name in {"setup", "teardown"}:
            return lambda *_, **__: None
        raise AttributeError(name)


def module() -> ModuleType:
    """Return a module as `lightning.pytorch`."""
    made = ModuleType("lightning.pytorch")
    made.__dict__["Callback"] = Callback
    return made


class Trainer:
    """One rank's trainer. *watch* is called with a word at the moments a person would like to see."""

    global_rank, local_rank, world_size = 0, 0, 1
    current_epoch = 0
    disk_is_full = False

    def __init__(self, callback: Any, root: Path, watch: Callable[[str], None] = lambda _: None) -> None:
        self.callback, self.watch = callback, watch
        self.default_root_dir = str(root)
        self.global_step = 0
        self.state = SimpleNamespace(fn=None)
        self.sanity_checking = False
        self.barriers: list[str] = []
        self.strategy = SimpleNamespace(checkpoint_io=SimpleNamespace(), barrier=self.barriers.append)
        self.own = SimpleNamespace(
            dirpath=str(root / "checkpoints"), _last_checkpoint_saved="", _last_global_step_saved=0
        )
        self.checkpoint_callbacks = [self.own]
        self.saves: list[str] = []

    def fit(self, steps: int, *, accumulate: int = 1, save_every: int = 0, validate_every: int = 0) -> None:
        """Run the hooks of so many optimizer steps."""
        self.state.fn = "fit"
        self.callback.setup(self, None, stage="fit")
        self.callback.on_fit_start(self, None)
        if validate_every:
            self.sanity_checking = True
            self.callback.on_sanity_check_start(self, None)
            self._evaluate("validation")
            self.callback.on_sanity_check_end(self, None)
            self.sanity_checking = False
        self.callback.on_train_start(self, None)
        for batch in range(steps * accumulate):
            self.callback.on_train_batch_start(self, None, None, batch)
            self.watch("train")
            self.global_step += (batch + 1) % accumulate == 0
            self.callback.on_train_batch_end(self, None, None, None, batch)
            done = (batch + 1) % accumulate == 0
            if done and save_every and self.global_step % save_every == 0:
                self._save_of_its_own()
            if done and validate_every and self.global_step % validate_every == 0:
                self._evaluate("validation")
        self.callback.on_train_end(self, None)
        self._end()

    def test(self, fn: str = "test") -> None:
        """Run the hooks of a test or a prediction."""
        self.state.fn = fn
        self.callback.setup(self, None, stage=fn)
        self._evaluate(fn)
        self._end()

    def save_checkpoint(self, path: str) -> None:
        """Save."""
        self.callback.on_save_checkpoint(self, None, {})
        self.watch("save")
        if self.disk_is_full:
            raise OSError(28, "No space left on device")
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("whole")
        self.saves.append(Path(path).name)

    def _save_of_its_own(self) -> None:
        path = f"{self.own.dirpath}/epoch=0-step={self.global_step}.ckpt"
        self.save_checkpoint(path)
        self.own._last_checkpoint_saved, self.own._last_global_step_saved = path, self.global_step

    def _evaluate(self, name: str) -> None:
        for hook in ("start", "batch_start", "batch_end", "end"):
            getattr(self.callback, f"on_{name}_{hook}")(self, None)
            self.watch(f"{name}_{hook}")

    def _end(self) -> None:
        if self.state.fn == "fit":
            self.callback.on_fit_end(self, None)
        self.callback.teardown(self, None, stage=self.state.fn)

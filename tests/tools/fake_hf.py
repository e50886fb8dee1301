"""The order in which the Trainer of transformers calls a callback, and what it shows to one; of training nothing.

Read from transformers 5.24.0, trainer.py: `_inner_training_loop`, `_maybe_log_save_evaluate`, `evaluation_loop`.
tests/frameworks holds the callback against the Trainer itself.
"""

from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any


def module() -> ModuleType:
    """Return a module as `transformers`."""
    made = ModuleType("transformers")
    made.__dict__["TrainerCallback"] = type("TrainerCallback", (), {})
    return made


class Trainer:
    """One rank's trainer. *watch* is called with a word at the moments a person would like to see."""

    def __init__(
        self, callback: Any, root: Path, watch: Callable[[str], None] = lambda _: None, *, world_size: int = 1
    ) -> None:
        self.callback, self.watch = callback, watch
        self.args = SimpleNamespace(output_dir=str(root), process_index=0, local_process_index=0, world_size=world_size)
        self.state = SimpleNamespace(global_step=0)
        self.control = SimpleNamespace(should_save=False, should_evaluate=False)
        self.saves: list[int] = []
        self.best_only = False
        self._call("on_init_end")

    def train(self, steps: int, *, accumulate: int = 1, save_every: int = 0, evaluate_every: int = 0) -> None:
        """Run the hooks of so many optimizer steps."""
        self._call("on_train_begin")
        for _ in range(steps):
            self._call("on_step_begin")
            for part in range(accumulate):
                self.watch("train")
                if part < accumulate - 1:
                    self._call("on_substep_end")
            self.state.global_step += 1
            # DefaultFlowCallback comes before ours.
            self.control.should_save = bool(save_every and self.state.global_step % save_every == 0)
            self.control.should_evaluate = bool(evaluate_every and self.state.global_step % evaluate_every == 0)
            self._call("on_step_end")
            self._save_and_evaluate()
        self._call("on_train_end")

    def evaluate(self) -> None:
        """Run the hooks of an evaluation."""
        for _ in range(2):
            self._call("on_prediction_step")
            self.watch("evaluate")
        self._call("on_evaluate")

    def _save_and_evaluate(self) -> None:
        if self.control.should_evaluate:
            self.watch("before evaluate")
            self.evaluate()
            self.control.should_save = self.control.should_save and not self.best_only
        if self.control.should_save:
            self.watch("save")
            (Path(self.args.output_dir) / f"checkpoint-{self.state.global_step}").mkdir()
            self.saves.append(self.state.global_step)
            self._call("on_save")
        self.control.should_save = self.control.should_evaluate = False

    def _call(self, hook: str) -> None:
        if hasattr(self.callback, hook):
            getattr(self.callback, hook)(self.args, self.state, self.control)

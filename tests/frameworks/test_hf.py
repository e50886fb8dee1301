"""The callback in the Trainer of transformers, on a model of one layer."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import Trainer, TrainingArguments

from relight_training import resume_point
from relight_training.hf import RelightCallback
from relight_training.layout import PHASES
from tests.tools.beat_files import ask, files_in, look, only_file

NAMES = {number: name for name, number in PHASES.items()}


class Model(torch.nn.Module):
    """Notes at each forward pass what the agent would see; asks for a save when it is told to."""

    def __init__(self, folder: Path, ask_at: int | None = None) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.beats, self.ask_at = folder, ask_at
        self.seen: dict[str, list[tuple[str, int]]] = defaultdict(list)

    def forward(self, x: Any, labels: Any = None) -> dict[str, Any]:
        seen = look(only_file(self.beats))
        kind = "train" if self.training else "evaluate"
        self.seen[kind].append((NAMES[seen.phase], seen.step))
        if kind == "train" and len(self.seen[kind]) == self.ask_at:
            ask(only_file(self.beats), 4711)
        out = self.layer(x)
        return {"loss": ((out - 1) ** 2).mean(), "logits": out}


class Rows(torch.utils.data.Dataset[Any]):
    """Rows of ones."""

    def __init__(self, rows: int = 32) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, row: int) -> dict[str, Any]:
        return {"x": torch.ones(4), "labels": torch.ones(1)}


def trainer(model: Model, root: Path, **words: Any) -> Trainer:
    quiet = {"report_to": "none", "disable_tqdm": True, "use_cpu": True, "save_strategy": "no", "eval_strategy": "no"}
    more = {"num_train_epochs": 1, "per_device_train_batch_size": 4, "per_device_eval_batch_size": 4}
    arguments = TrainingArguments(output_dir=str(root), **quiet | more | words)
    return Trainer(
        model=model, args=arguments, train_dataset=Rows(), eval_dataset=Rows(8), callbacks=[RelightCallback()]
    )


def test_phases_and_steps_are_what_the_trainer_does(folder: Path, tmp_path: Path) -> None:
    model = Model(folder)
    every = {"save_strategy": "steps", "save_steps": 4, "eval_strategy": "steps", "eval_steps": 4}
    runs = trainer(model, tmp_path / "out", **every)
    assert NAMES[look(only_file(folder)).phase] == "starting"
    runs.train()
    assert model.seen["train"] == [("compile", 0), *(("train", step) for step in range(1, 8))]
    assert {phase for phase, _ in model.seen["evaluate"]} == {"evaluate"}
    seen = look(only_file(folder))
    assert (NAMES[seen.phase], seen.step) == ("ended", 8)
    assert seen.header.items() >= {"rank": 0, "local_rank": 0, "world_size": 1}.items()
    assert json.loads((tmp_path / "out" / "relight-progress.json").read_text())["path"] == "checkpoint-8"


def test_while_it_saves_the_phase_is_save(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model(folder)
    runs = trainer(model, tmp_path / "out", save_strategy="steps", save_steps=4)
    phases = []
    real = runs._save_checkpoint

    def watched(*words: Any, **named: Any) -> None:
        phases.append(NAMES[look(only_file(folder)).phase])
        real(*words, **named)

    monkeypatch.setattr(runs, "_save_checkpoint", watched)
    runs.train()
    assert phases == ["save", "save"]


def test_an_evaluation_of_its_own_ends(folder: Path, tmp_path: Path) -> None:
    model = Model(folder)
    runs = trainer(model, tmp_path / "out")
    runs.evaluate()
    runs.predict(Rows(8))
    assert "evaluate" in {phase for phase, _ in model.seen["evaluate"]}
    assert NAMES[look(only_file(folder)).phase] == "ended"


def test_accumulated_gradients_are_one_step(folder: Path, tmp_path: Path) -> None:
    model = Model(folder)
    trainer(model, tmp_path / "out", gradient_accumulation_steps=4).train()
    assert [step for _, step in model.seen["train"]] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert look(only_file(folder)).step == 2
    assert look(only_file(folder)).beats >= 8


@pytest.mark.parametrize(("accumulate", "asked", "step"), [(1, 3, 3), (4, 6, 2)])
def test_a_save_that_is_asked_for_can_be_resumed(
    folder: Path, tmp_path: Path, accumulate: int, asked: int, step: int
) -> None:
    model = Model(folder, ask_at=asked)
    trainer(model, tmp_path / "out", gradient_accumulation_steps=accumulate).train()
    seen = look(only_file(folder))
    assert (seen.fulfilled, seen.saved_step) == (4711, step)
    assert [path.name for path in (tmp_path / "out").glob("checkpoint-*")] == [f"checkpoint-{step}"]
    told = {"step": step, "path": f"s3://runs/run/checkpoint-{step}", "incident": "i", "time": "2099-01-01T00:00:00Z"}
    (tmp_path / "out" / "relight-resume.json").write_text(json.dumps(told))
    point = resume_point(tmp_path / "out")
    assert point is not None
    again = Model(folder)
    trainer(again, tmp_path / "out", gradient_accumulation_steps=accumulate).train(resume_from_checkpoint=point.path)
    assert len(again.seen["train"]) == 8 - step * accumulate
    assert all(seen == ("compile", step) for seen in again.seen["train"][:accumulate])


def test_workers_of_the_loader_have_no_file(folder: Path, tmp_path: Path) -> None:
    model = Model(folder)
    trainer(model, tmp_path / "out", dataloader_num_workers=2).train()
    assert len(files_in(folder)) == 1

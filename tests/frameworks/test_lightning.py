"""The callback in Lightning's own Trainer, on a model of one layer."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import torch
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.plugins.io import AsyncCheckpointIO
from torch.utils.data import DataLoader, TensorDataset

from relight_training import resume_point
from relight_training.layout import PHASES
from relight_training.lightning import RelightCallback
from tests.tools.beat_files import ask, files_in, look, only_file

NAMES = {number: name for name, number in PHASES.items()}


def data(rows: int = 32) -> DataLoader[Any]:
    return DataLoader(TensorDataset(torch.ones(rows, 4)), batch_size=4)


class Model(LightningModule):
    """Notes at each batch what the agent would see; asks for a save when it is told to."""

    def __init__(self, folder: Path, ask_at: int | None = None) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
        self.beats, self.ask_at = folder, ask_at
        self.seen: dict[str, list[tuple[str, int]]] = defaultdict(list)
        self.batches = 0

    def note(self, moment: str) -> None:
        seen = look(only_file(self.beats))
        self.seen[moment].append((NAMES[seen.phase], seen.step))

    def training_step(self, batch: Any, _: int) -> Any:
        self.note("train")
        self.batches += 1
        if self.batches == self.ask_at:
            ask(only_file(self.beats), 4711)
        return self.layer(batch[0]).mean()

    def validation_step(self, batch: Any, _: int) -> None:
        self.note("validate")

    def test_step(self, batch: Any, number: int) -> None:
        self.note("test")

    def predict_step(self, batch: Any, _: int) -> Any:
        self.note("predict")
        return self.layer(batch[0])

    def on_save_checkpoint(self, checkpoint: Any) -> None:
        self.note("save")

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def trainer(root: Path, *callbacks: Any, **words: Any) -> Trainer:
    quiet = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}
    return Trainer(default_root_dir=root, callbacks=[RelightCallback(), *callbacks], max_epochs=1, **quiet | words)


def test_phases_and_steps_are_what_the_trainer_does(folder: Path, tmp_path: Path) -> None:
    model = Model(folder)
    keeps = ModelCheckpoint(dirpath=tmp_path / "kept", every_n_train_steps=4, save_top_k=-1)
    trainer(tmp_path, keeps, val_check_interval=4).fit(model, data(), data(8))
    assert model.seen["train"] == [("compile", 0), *(("train", step) for step in range(1, 8))]
    assert {phase for phase, _ in model.seen["validate"]} == {"evaluate"}
    assert len(model.seen["validate"]) == 2 + 2 * 2  # the sanity check and two validations of two batches
    assert {phase for phase, _ in model.seen["save"]} == {"save"}
    seen = look(only_file(folder))
    assert (NAMES[seen.phase], seen.step) == ("ended", 8)
    assert seen.header.items() >= {"rank": 0, "local_rank": 0, "world_size": 1}.items()
    assert json.loads((tmp_path / "kept" / "relight-progress.json").read_text())["step"] == 8


def test_test_and_predict_are_evaluations(folder: Path, tmp_path: Path) -> None:
    model = Model(folder)
    runs = trainer(tmp_path)
    runs.test(model, data(8), verbose=False)
    runs.predict(model, data(8))
    assert {phase for moment in ("test", "predict") for phase, _ in model.seen[moment]} == {"evaluate"}
    assert NAMES[look(only_file(folder)).phase] == "ended"


def test_accumulated_gradients_are_one_step(folder: Path, tmp_path: Path) -> None:
    model = Model(folder)
    trainer(tmp_path, enable_checkpointing=False, accumulate_grad_batches=4).fit(model, data())
    assert [step for _, step in model.seen["train"]] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert look(only_file(folder)).step == 2


@pytest.mark.parametrize(("accumulate", "asked", "step"), [(1, 3, 3), (4, 6, 2)])
def test_a_save_that_is_asked_for_can_be_resumed(
    folder: Path, tmp_path: Path, accumulate: int, asked: int, step: int
) -> None:
    model = Model(folder, ask_at=asked)
    keeps = ModelCheckpoint(dirpath=tmp_path / "kept", save_top_k=0)
    trainer(tmp_path, keeps, accumulate_grad_batches=accumulate).fit(model, data(48))
    seen = look(only_file(folder))
    assert (seen.fulfilled, seen.saved_step) == (4711, step)
    path = tmp_path / "kept" / f"epoch=0-step={step}.ckpt"
    assert torch.load(path, weights_only=False)["global_step"] == step
    again = Model(folder)
    trainer(tmp_path, accumulate_grad_batches=accumulate, enable_checkpointing=False).fit(
        again, data(48), ckpt_path=path
    )
    assert again.seen["train"][0] == ("compile", step)
    assert len(again.seen["train"]) == 12 - step * accumulate


def test_a_save_by_a_thread_is_told_when_it_is_on_disk(folder: Path, tmp_path: Path) -> None:
    model = Model(folder, ask_at=2)
    runs = trainer(tmp_path, plugins=[AsyncCheckpointIO()])
    runs.fit(model, data())
    assert look(only_file(folder)).fulfilled == 4711
    assert torch.load(tmp_path / "checkpoints" / "epoch=0-step=2.ckpt", weights_only=False)["global_step"] == 2


def test_the_resume_point_of_relight_is_what_fit_loads(folder: Path, tmp_path: Path) -> None:
    keeps = ModelCheckpoint(dirpath=tmp_path / "kept", every_n_train_steps=2, save_top_k=-1)
    trainer(tmp_path, keeps).fit(Model(folder), data())
    told = {"step": 4, "path": "s3://runs/run/epoch=0-step=4.ckpt", "incident": "i", "time": "2099-01-01T00:00:00Z"}
    (tmp_path / "kept" / "relight-resume.json").write_text(json.dumps(told))
    point = resume_point(tmp_path / "kept")
    assert point is not None
    model = Model(folder)
    trainer(tmp_path, enable_checkpointing=False).fit(model, data(), ckpt_path=point.path)
    assert model.seen["train"][0] == ("compile", 4)


def test_workers_of_the_loader_have_no_file(folder: Path, tmp_path: Path) -> None:
    loader = DataLoader(Beating(), batch_size=4, num_workers=2)
    model = Model(folder)
    trainer(tmp_path, enable_checkpointing=False).fit(model, loader)
    assert len(model.seen["train"]) == 8
    assert len(files_in(folder)) == 1


class Beating(torch.utils.data.Dataset[Any]):
    """Rows whose making calls `beat`, as a careless preprocessing step would."""

    def __len__(self) -> int:
        return 32

    def __getitem__(self, row: int) -> Any:
        from relight_training import beat, beats

        beat(step=row, phase="load")
        assert beats.path() is None
        return (torch.ones(4),)


def test_a_run_that_fails_is_not_called_ended(folder: Path, tmp_path: Path) -> None:
    class Fails(Model):
        def training_step(self, batch: Any, number: int) -> Any:
            super().training_step(batch, number)
            raise RuntimeError("CUDA error")

    with pytest.raises(RuntimeError, match="CUDA error"):
        trainer(tmp_path).fit(Fails(folder), data())
    assert NAMES[look(only_file(folder)).phase] == "compile"

import importlib
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from agent.job.beat_files import read_beats
from relight_training.layout import PHASES
from tests.tools import fake_lightning
from tests.tools.beat_files import ask, look, only_file
from tests.tools.fake_lightning import Trainer

NAMES = {number: name for name, number in PHASES.items()}


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.setitem(sys.modules, "lightning.pytorch", fake_lightning.module())
    monkeypatch.delitem(sys.modules, "relight_training.lightning", raising=False)
    yield importlib.import_module("relight_training.lightning")
    monkeypatch.delitem(sys.modules, "relight_training.lightning")


def test_the_phases_of_a_fit_are_told(library: ModuleType, folder: Path, tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []
    trainer = Trainer(
        library.RelightCallback(), tmp_path, lambda moment: seen.append((moment, NAMES[look(only_file(folder)).phase]))
    )
    trainer.fit(3, save_every=2, validate_every=2)
    by_moment = [phase for moment, phase in seen if moment == "train"]
    assert by_moment == ["compile", "train", "train"]
    assert {phase for moment, phase in seen if moment == "save"} == {"save"}
    assert {phase for moment, phase in seen if moment == "validation_batch_end"} == {"evaluate"}
    ends = [phase for moment, phase in seen if moment == "validation_end"]
    assert ends == ["starting", "train"]
    assert look(only_file(folder)).phase == PHASES["ended"]


def test_a_test_after_the_fit_is_an_evaluation(library: ModuleType, folder: Path, tmp_path: Path) -> None:
    seen: list[int] = []
    trainer = Trainer(library.RelightCallback(), tmp_path, lambda _: seen.append(look(only_file(folder)).phase))
    for fn in ("test", "predict"):
        trainer.test(fn)
    assert set(seen) == {PHASES["evaluate"]}
    assert look(only_file(folder)).phase == PHASES["ended"]


def test_steps_are_the_optimizers_and_each_batch_beats(library: ModuleType, folder: Path, tmp_path: Path) -> None:
    steps: list[int] = []
    trainer = Trainer(library.RelightCallback(), tmp_path, lambda _: steps.append(look(only_file(folder)).step))
    trainer.fit(3, accumulate=4)
    assert steps == [0] * 4 + [1] * 4 + [2] * 4
    assert look(only_file(folder)).step == 3
    assert look(only_file(folder)).beats >= 24


def test_a_save_that_is_asked_for_is_made_at_the_end_of_the_step(
    library: ModuleType, folder: Path, tmp_path: Path
) -> None:
    batches = 0

    def watch(moment: str) -> None:
        nonlocal batches
        batches += moment == "train"
        if batches == 6:
            ask(only_file(folder), 77)

    trainer = Trainer(library.RelightCallback(), tmp_path, watch)
    trainer.fit(4, accumulate=4)  # asked in the second batch of the second step
    assert trainer.saves == ["epoch=0-step=2.ckpt"]
    assert (tmp_path / "checkpoints" / "epoch=0-step=2.ckpt").exists()
    seen = look(only_file(folder))
    assert (seen.fulfilled, seen.saved_step) == (77, 2)


def test_a_save_that_fails_ends_no_training_and_is_not_tried_again(
    library: ModuleType, folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    trainer = Trainer(library.RelightCallback(), tmp_path, lambda _: ask(only_file(folder), 5))
    trainer.disk_is_full = True
    trainer.fit(4)
    assert look(only_file(folder)).fulfilled == 0
    assert trainer.barriers == ["Trainer.save_checkpoint"]
    assert [record.message for record in caplog.records if "No space left" in record.message]
    assert len(caplog.records) == 1
    trainer.disk_is_full = False
    ask(only_file(folder), 6)
    trainer.watch = lambda _: None
    trainer.fit(1)
    assert look(only_file(folder)).fulfilled == 6


def test_without_a_model_checkpoint_it_saves_in_the_root(library: ModuleType, folder: Path, tmp_path: Path) -> None:
    trainer = Trainer(library.RelightCallback(), tmp_path, lambda _: ask(only_file(folder), 5))
    trainer.checkpoint_callbacks = []
    trainer.fit(1)
    assert (tmp_path / "epoch=0-step=1.ckpt").exists()


def test_saves_may_be_refused(library: ModuleType, folder: Path, tmp_path: Path) -> None:
    trainer = Trainer(library.RelightCallback(every=None), tmp_path, lambda _: ask(only_file(folder), 5))
    trainer.fit(2)
    assert trainer.saves == []


def test_lightnings_own_saves_are_told_and_noted(library: ModuleType, folder: Path, tmp_path: Path) -> None:
    trainer = Trainer(library.RelightCallback(), tmp_path)
    trainer.fit(5, save_every=2)
    assert '"step": 4' in (tmp_path / "checkpoints" / "relight-progress.json").read_text()


def test_a_save_that_a_thread_makes_is_whole_when_the_thread_says_so(
    library: ModuleType, folder: Path, tmp_path: Path
) -> None:
    trainer = Trainer(library.RelightCallback(), tmp_path)
    with ThreadPoolExecutor(max_workers=1) as executor:
        trainer.strategy.checkpoint_io = SimpleNamespace(_executor=executor, _error=None)
        trainer.fit(2, save_every=2)
        assert not list(tmp_path.rglob("relight-progress.json"))
        ask(only_file(folder), 8)
        trainer.fit(1)
        assert look(only_file(folder)).fulfilled == 8
        ask(only_file(folder), 9)
        trainer.strategy.checkpoint_io._error = OSError("disk full")
        trainer.fit(1)
        assert look(only_file(folder)).fulfilled == 8


def test_the_trainers_ranks_are_in_the_header(library: ModuleType, folder: Path, tmp_path: Path) -> None:
    trainer = Trainer(library.RelightCallback(), tmp_path)
    trainer.global_rank, trainer.local_rank, trainer.world_size = 9, 1, 16
    trainer.fit(1)
    assert look(only_file(folder)).header.items() >= {"rank": 9, "local_rank": 1, "world_size": 16}.items()
    assert not list(tmp_path.rglob("relight-progress.json"))


def test_what_lies_between_two_steps_is_the_ranks_own_unless_it_saves(
    library: ModuleType, folder: Path, tmp_path: Path
) -> None:
    trainer = Trainer(library.RelightCallback(), tmp_path)
    trainer.fit(4, save_every=1)
    (reads,) = [one.beat for one in read_beats(folder)]
    assert (reads.saves, reads.save_step, reads.own) == (4, 4, 0)
    trainer.fit(4)
    (reads,) = [one.beat for one in read_beats(folder)]
    assert 0 < reads.own < 10_000_000_000


def test_where_lightning_is_missing_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "relight_training.lightning", raising=False)
    for name in ("lightning", "lightning.pytorch", "pytorch_lightning"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(ImportError, match="pip install lightning"):
        importlib.import_module("relight_training.lightning")


def test_the_older_package_is_taken_when_it_is_the_one_that_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    older = ModuleType("pytorch_lightning")
    older.__dict__["Callback"] = type("Callback", (), {})
    monkeypatch.setitem(sys.modules, "pytorch_lightning", older)
    monkeypatch.delitem(sys.modules, "relight_training.lightning", raising=False)
    library = importlib.import_module("relight_training.lightning")
    assert issubclass(library.RelightCallback, older.Callback)
    monkeypatch.delitem(sys.modules, "relight_training.lightning")

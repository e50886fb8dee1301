import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from agent.job.beat_files import read_beats
from relight_training.layout import PHASES
from tests.tools import fake_hf
from tests.tools.beat_files import ask, look, only_file
from tests.tools.fake_hf import Trainer

NAMES = {number: name for name, number in PHASES.items()}


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.setitem(sys.modules, "transformers", fake_hf.module())
    monkeypatch.delitem(sys.modules, "relight_training.hf", raising=False)
    yield importlib.import_module("relight_training.hf")
    monkeypatch.delitem(sys.modules, "relight_training.hf")


def test_the_phases_of_a_training_are_told(library: ModuleType, folder: Path, tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []
    trainer = Trainer(
        library.RelightCallback(), tmp_path, lambda moment: seen.append((moment, NAMES[look(only_file(folder)).phase]))
    )
    assert look(only_file(folder)).phase == PHASES["starting"]
    trainer.train(4, save_every=2, evaluate_every=2)
    assert [phase for moment, phase in seen if moment == "train"] == ["compile", "train", "train", "train"]
    assert {phase for moment, phase in seen if "evaluate" in moment} == {"evaluate"}
    assert {phase for moment, phase in seen if moment == "save"} == {"save"}
    assert look(only_file(folder)).phase == PHASES["ended"]


def test_an_evaluation_of_its_own_ends(library: ModuleType, folder: Path, tmp_path: Path) -> None:
    Trainer(library.RelightCallback(), tmp_path).evaluate()
    assert look(only_file(folder)).phase == PHASES["ended"]


def test_steps_are_the_optimizers_and_each_part_beats(library: ModuleType, folder: Path, tmp_path: Path) -> None:
    steps: list[int] = []
    beats: list[int] = []

    def watch(_: str) -> None:
        seen = look(only_file(folder))
        steps.append(seen.step)
        beats.append(seen.beats)

    Trainer(library.RelightCallback(), tmp_path, watch).train(2, accumulate=3)
    assert steps == [0, 0, 0, 1, 1, 1]
    assert len(set(beats)) == 6


def test_a_save_that_is_asked_for_is_made_after_the_step(library: ModuleType, folder: Path, tmp_path: Path) -> None:
    trainer = Trainer(library.RelightCallback(), tmp_path)
    trainer.watch = lambda _: ask(only_file(folder), 77)
    trainer.train(3)
    assert trainer.saves == [1]
    seen = look(only_file(folder))
    assert (seen.fulfilled, seen.saved_step) == (77, 1)


def test_a_save_that_the_trainer_did_not_make_answers_nothing_and_is_asked_for_again(
    library: ModuleType, folder: Path, tmp_path: Path
) -> None:
    trainer = Trainer(library.RelightCallback(), tmp_path)
    ask(only_file(folder), 77)
    trainer.best_only = True
    trainer.train(1, evaluate_every=1)
    assert trainer.saves == []
    assert look(only_file(folder)).fulfilled == 0
    trainer.best_only = False
    trainer.train(1)
    assert look(only_file(folder)).fulfilled == 77


def test_of_many_ranks_each_says_so_when_all_have_gone_on(library: ModuleType, folder: Path, tmp_path: Path) -> None:
    told: list[int] = []
    noted = tmp_path / "relight-progress.json"

    def watch(_: str) -> None:
        told.append(json.loads(noted.read_text())["step"] if noted.exists() else 0)

    Trainer(library.RelightCallback(), tmp_path, watch, world_size=2).train(3, save_every=1)
    assert told == [0, 0, 0, 1, 1, 2]
    assert json.loads(noted.read_text())["step"] == 3


def test_the_trainers_own_saves_are_noted(library: ModuleType, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    Trainer(library.RelightCallback(), tmp_path / "out").train(4, save_every=2)
    assert '"path": "checkpoint-4"' in (tmp_path / "out" / "relight-progress.json").read_text()


def test_what_lies_between_two_steps_is_the_ranks_own_unless_it_saves(
    library: ModuleType, folder: Path, tmp_path: Path
) -> None:
    trainer = Trainer(library.RelightCallback(), tmp_path)
    trainer.train(4, save_every=1)
    (reads,) = [one.beat for one in read_beats(folder)]
    assert (reads.saves, reads.save_step, reads.own) == (4, 4, 0)
    trainer.train(4)
    (reads,) = [one.beat for one in read_beats(folder)]
    assert 0 < reads.own < 10_000_000_000


def test_where_transformers_is_missing_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "relight_training.hf", raising=False)
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ImportError):
        importlib.import_module("relight_training.hf")

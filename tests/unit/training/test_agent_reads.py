"""What training writes is what the agent reads, and the other way round."""

from pathlib import Path

import pytest

from agent.commands.doings.request_save import write_token
from agent.job.beat import Phase
from agent.job.beat_files import read_beats
from agent.job.matching import Matcher
from relight_training import beat, beats, save_requested, saved
from relight_training.layout import PHASES


def test_phases_have_the_same_names_and_numbers() -> None:
    assert {phase.name.lower(): int(phase) for phase in Phase} == PHASES


def test_the_agent_reads_what_training_says(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"RELIGHT_JOB": "training/llama", "RELIGHT_ORCHESTRATOR": "eks", "RELIGHT_CHECKPOINTS": "s3://runs/run"}
    for name, value in {**told, "RANK": "9", "LOCAL_RANK": "1", "WORLD_SIZE": "16"}.items():
        monkeypatch.setenv(name, value)
    beat(step=41, phase="evaluate")
    (file,) = read_beats(folder)
    found = file.beat
    assert (found.job, found.orchestrator, found.checkpoint) == ("training/llama", "eks", "s3://runs/run")
    assert (found.rank, found.local_rank, found.world_size) == (9, 1, 16)
    assert (found.step, found.phase, found.beats, found.saved_token) == (41, Phase.EVALUATE, 1, 0)


def test_the_agent_finds_the_process(folder: Path) -> None:
    beat(step=1)
    (matched,) = Matcher(Path("/proc")).match(read_beats(folder), 0.0)
    assert matched.process is not None
    assert matched.process.pid == matched.beat.pid


def test_the_agent_asks_and_training_answers(folder: Path) -> None:
    beat(step=41)
    path = beats.path()
    assert path is not None
    write_token(Path(path), 2**63)
    assert save_requested() == 2**63
    saved(42)
    (file,) = read_beats(folder)
    assert (file.beat.saved_token, file.beat.saved_step) == (2**63, 42)


def test_the_agent_hears_of_each_save_and_of_what_a_rank_did_on_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELIGHT_JOB_VALUE", "2.5")
    beat(step=1, own=0.25)
    before = read_beats(folder)[0].beat
    assert (before.saves, before.save_step, before.value) == (0, None, 2.5)
    saved(7)
    saved(9)
    beat(own=0.5)
    after = read_beats(folder)[0].beat
    assert (after.saves, after.save_step, after.own) == (2, 9, 750_000_000)
    assert before.at <= after.save_at <= after.at
    assert (after.saved_token, after.saved_step) == (0, None)

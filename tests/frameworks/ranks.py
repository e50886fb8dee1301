"""One rank of two, started by torchrun: `ranks.py plain|lightning|hf FOLDER`.

The ranks see a request at different steps. If they did not agree they would save at different steps, and wait for ever.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from relight_training import beat, beats, saved
from relight_training.agree import agreed_save
from tests.tools.beat_files import ask, look

STEPS = 24
OUT = Path(sys.argv[2])
SAVED: list[int] = []


def ask_at(step: int, batch: int) -> None:
    """Let the agent of rank 0 ask at step 3; that of rank 1 is asked late, or not at all."""
    path = beats.path()
    assert path is not None
    if dist.get_rank() == 0 and batch == 3:
        ask(Path(path), 4711)


def plain() -> None:
    """Train by hand."""
    dist.init_process_group(os.environ.get("BACKEND") or None)
    for step in range(1, STEPS + 1):
        beat(step=step, phase="train")
        ask_at(step, step)
        token = agreed_save(step, every=5)
        if token is not None:
            dist.barrier()
            SAVED.append(step)
            saved(step, token=token)


def lightning() -> None:
    """Train with Lightning."""
    from lightning.pytorch import Trainer
    from lightning.pytorch.strategies import DDPStrategy

    from relight_training.lightning import RelightCallback
    from tests.frameworks.models import LightningModel, rows

    strategy = DDPStrategy(process_group_backend="gloo")
    trainer = Trainer(
        accelerator="cpu",
        devices=2,
        strategy=strategy,
        max_epochs=1,
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=OUT,
        callbacks=[RelightCallback(every=5)],
    )
    trainer.fit(LightningModel(ask_at), rows(STEPS))
    SAVED.extend(int(path.stem.rpartition("=")[2]) for path in OUT.rglob("*.ckpt") if "step=24" not in path.stem)


def hf() -> None:
    """Train with transformers."""
    from transformers import Trainer, TrainingArguments

    from relight_training.hf import RelightCallback
    from tests.frameworks.models import HfModel, Rows

    arguments = TrainingArguments(
        output_dir=str(OUT),
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
        save_strategy="no",
        ddp_backend="gloo",
        num_train_epochs=1,
        per_device_train_batch_size=4,
    )
    Trainer(
        model=HfModel(ask_at), args=arguments, train_dataset=Rows(2 * 4 * STEPS), callbacks=[RelightCallback(every=5)]
    ).train()
    dist.barrier()
    SAVED.extend(int(path.name.partition("-")[2]) for path in OUT.glob("checkpoint-*"))


def main() -> None:
    torch.set_num_threads(1)
    {"plain": plain, "lightning": lightning, "hf": hf}[sys.argv[1]]()
    path = beats.path()
    assert path is not None
    seen: Any = look(Path(path))
    told = {"saved": SAVED, "fulfilled": seen.fulfilled, "saved_step": seen.saved_step, "rank": seen.header.get("rank")}
    (OUT / f"told-{dist.get_rank()}.json").write_text(json.dumps(told))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

"""A training loop with Relight's beat, its requests to save and its resume point; Python's own library only.

    python training/examples/train.py --checkpoints /tmp/run-1 --steps 1000

The model is one number that falls. A checkpoint is a folder `step-<n>` which is written under another name and renamed
when it is whole, so that a kill at any moment leaves the one before. Try it: kill -9, start again.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path

from relight_training import beat, finish, resume_point, save_requested, saved

FILE = "model.json"


def main() -> int:
    """Train."""
    args = arguments()
    args.checkpoints.mkdir(parents=True, exist_ok=True)
    beat(phase="load")
    step, weight = load(where_to_begin(args.checkpoints))
    say(event="begins", step=step)
    while step < args.steps:
        step, weight = step + 1, train(weight, args.step_seconds)
        beat(step=step, phase="train")
        if step % args.save_every == 0 or step == args.steps or save_requested():
            beat(phase="save")
            saved(step, save(args.checkpoints, step, weight, args.save_seconds))
            say(event="saved", step=step)
    finish()
    say(event="done", step=step)
    return 0


def where_to_begin(checkpoints: Path) -> Path | None:
    """Return the checkpoint to load: the one that Relight names, else the newest complete one, else none."""
    point = resume_point(checkpoints)
    if point is not None and (Path(point.path) / FILE).exists():
        say(event="resumes", step=point.step, told_by=point.told_by)
        return Path(point.path)
    found = [folder for folder in checkpoints.glob("step-*") if (folder / FILE).exists()]
    return max(found, key=lambda folder: int(folder.name.partition("-")[2]), default=None)


def load(checkpoint: Path | None) -> tuple[int, float]:
    """Return step and model."""
    if checkpoint is None:
        return 0, 1.0
    told = json.loads((checkpoint / FILE).read_text(encoding="utf-8"))
    return int(told["step"]), float(told["weight"])


def train(weight: float, seconds: float) -> float:
    """Make one step."""
    time.sleep(seconds)
    return weight * 0.999


def save(checkpoints: Path, step: int, weight: float, seconds: float) -> Path:
    """Write a checkpoint that is there whole or not at all."""
    whole, partial = checkpoints / f"step-{step}", checkpoints / f".step-{step}.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    with (partial / FILE).open("w", encoding="utf-8") as file:
        json.dump({"step": step, "weight": weight}, file)
        time.sleep(seconds)
        file.flush()
        os.fsync(file.fileno())
    shutil.rmtree(whole, ignore_errors=True)
    partial.rename(whole)
    return whole


def say(**told: object) -> None:
    """Print a line for whoever watches."""
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoints", type=Path, required=True, help="folder to save in and to resume from")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--save-every", type=int, default=10)
    parser.add_argument("--step-seconds", type=float, default=0.05)
    parser.add_argument("--save-seconds", type=float, default=0.0, help="how long a save takes, to be killed in it")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

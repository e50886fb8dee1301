"""What a beat and a look for a request cost the training process, in a process of its own as a loop would have it."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench.measure import Figure, figure

ROOT = Path(__file__).resolve().parents[2]
RUNS, ROUNDS = 7, 100_000
SCRIPT = f"""
import json, time
from relight_training import beat, save_requested

def cost(call):
    began = time.perf_counter()
    for step in range({ROUNDS}):
        call(step)
    return (time.perf_counter() - began) / {ROUNDS} * 1e6

calls = {{
    "a beat": lambda step: beat(step=step, phase="train"),
    "a look for a request": lambda step: save_requested(),
    "the call alone": lambda step: None,
}}
began = time.perf_counter()
beat()
first = (time.perf_counter() - began) * 1e6
for call in calls.values():
    cost(call)
costs = {{name: [cost(call) for _ in range({RUNS})] for name, call in calls.items()}}
print(json.dumps({{"the first beat": [first], **costs}}))
"""


def figures() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        environ = {**os.environ, "PYTHONPATH": str(ROOT / "training"), "RELIGHT_BEATS": folder}
        command = [sys.executable, "-c", SCRIPT]
        run = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    for name, samples in json.loads(run.stdout).items():
        yield figure(f"training: {name}", "µs", samples, better="lower")

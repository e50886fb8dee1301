"""How long `relight demo` takes, from the command to its exit, in a clone where it ran before.

The first time costs more: `make demo` in a fresh clone installs the environment and synthesises the template. That is
measured by hand, since it needs the network and an empty home:

    git clone . /tmp/fresh && cd /tmp/fresh && time HOME=$(mktemp -d) make demo
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.bench.measure import Figure, figure, repeat

ROOT = Path(__file__).resolve().parents[2]
RUNS = int(os.environ.get("RELIGHT_BENCH_DEMOS", "3"))


def figures() -> list[Figure]:
    return [figure("demo: wall time, warm", "s", repeat(_demo, RUNS), better="lower")]


def _demo() -> float:
    """Run it as a person does; it must have ended well to count."""
    relight = Path(sys.executable).with_name("relight")
    began = time.perf_counter()
    told = subprocess.run([relight, "demo", "--json"], cwd=ROOT, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    assert told.returncode == 0, f"{told.stdout[-2000:]}\n{told.stderr[-2000:]}"
    return seconds

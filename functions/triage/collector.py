"""Python's garbage collector, set for what triage does: thousands of short-lived events, hardly a cycle among them.

Decides how often it looks for cycles. Measured (tests/bench/triage.py): with the defaults every fifth microsecond of a
batch went into walking events that die by themselves a moment later.
"""

import gc

# A batch of 500 envelopes makes some 50,000 objects; cycles, which only errors leave behind, can wait a few batches.
NEW_OBJECTS_BEFORE_A_LOOK = 200_000


def calm_collector() -> None:
    """Leave out what is loaded by now (it stays for the worker's life), and look for cycles rarely."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS_BEFORE_A_LOOK, 10, 10)

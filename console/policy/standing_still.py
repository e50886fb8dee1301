"""Whether everything is stopped, as whoever makes a policy active or looks at one is told. It must not write."""

from functions.ports.policies import PolicyEditor
from policies.coordination.switches import EVERYTHING, stop_of


def stopped(policies: PolicyEditor) -> str:
    """Return who stopped everything and why; empty while policies act as they say."""
    return stop_of(policies.live(EVERYTHING))


def nothing_acts(stop: str) -> str:
    """Return the line on a *stop* that there is, and on what ends it."""
    return f"NOTHING ACTS: {stop}. `relight policy start` ends that."

"""Waits for the guard's verdict on an item as it stands. It must not write."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from functions.ports.policies import PolicyEditor

LOOK_SECONDS = 0.5
WAIT_SECONDS = 60.0  # the guard judges within seconds; a stream that is read anew takes longer


def wait_for_verdict(
    policies: PolicyEditor,
    name: str,
    seconds: float,
    *,
    clock: Callable[[], datetime],
    pause: Callable[[float], None],
) -> Mapping[str, Any] | None:
    """Return the guard's verdict on *name* as it stands, None when there was none within *seconds*."""
    until = clock() + timedelta(seconds=seconds)
    while True:
        live = policies.live(name)
        verdict = policies.verdict(live) if live else None
        if verdict is not None:
            return verdict
        if clock() >= until:
            return None
        pause(LOOK_SECONDS)

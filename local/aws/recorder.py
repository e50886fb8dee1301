"""Who called what on which resource, how often. Kept as counts, so that a long run stays small."""

import json
import threading
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from local.aws import action_names, resources
from local.aws.calls import Call
from local.aws.recorder_types import RecordedCall

# Distinct (principal, action, resources) kept; a run of the app has some hundreds. Beyond it, resources fold to *.
_MAX_DISTINCT = 20_000


class Recorder:
    """Counts calls."""

    def __init__(self, *, enabled: bool, account: str) -> None:
        self._enabled = enabled
        self._account = account
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str, tuple[str, ...]]] = Counter()

    def record_call(self, call: Call) -> None:
        """Count a request: the IAM actions it needs, on the resources it names."""
        if not self._enabled:
            return
        touched = resources.touched(call, self._account)
        for action in action_names.actions(call):
            self.record(call.principal, action, touched)

    def record(self, principal: str, action: str, touched: tuple[str, ...]) -> None:
        """Count something that AWS does under a role without a request here (a poller's reads, a delivery)."""
        if not self._enabled:
            return
        with self._lock:
            key = (principal, action, touched)
            if key not in self._counts and len(self._counts) >= _MAX_DISTINCT:
                key = (principal, action, ("*",))
            self._counts[key] += 1

    def calls(self) -> list[RecordedCall]:
        with self._lock:
            return sorted(RecordedCall(*key, count=count) for key, count in self._counts.items())

    def dump(self, path: Path) -> None:
        """Write one JSON line a recorded call."""
        path.write_text("".join(json.dumps(asdict(call)) + "\n" for call in self.calls()))

"""Which resources of which stack could not be made. Filled during a deployment, read by `deploy`."""

import threading
from collections import defaultdict

from local.aws.errors import ResourceProblem


class Problems:
    """Problems by stack, in the order they came up: a cause before what depends on it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_stack: defaultdict[str, dict[str, ResourceProblem]] = defaultdict(dict)

    def add(self, stack: str, problem: ResourceProblem) -> None:
        with self._lock:
            self._by_stack[stack].setdefault(problem.logical_id, problem)

    def has(self, stack: str, logical_id: str) -> bool:
        return logical_id in self._by_stack[stack]

    def of(self, stack: str) -> list[ResourceProblem]:
        with self._lock:
            return list(self._by_stack[stack].values())

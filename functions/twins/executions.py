"""handle-incident's executions in memory: started once by name, asks that wait by token."""

from threading import Lock

from policies.contract.decisions import Answer
from policies.coordination.incident import execution_name
from policies.coordination.snapshot import ExecutionState


class MemoryExecutions:
    """``started`` is name -> (cluster, incident, attempt). ``answers`` is token -> answer, the first one counts."""

    def __init__(self) -> None:
        """Start with none."""
        self._lock = Lock()
        self._ended: set[str] = set()
        self._waiting: set[str] = set()
        self.started: dict[str, tuple[str, str, int]] = {}
        self.answers: dict[str, Answer] = {}

    def start(self, cluster: str, incident: str, attempt: int) -> None:
        """Start it, unless a run of that name was started before."""
        with self._lock:
            self.started.setdefault(execution_name(incident, attempt), (cluster, incident, attempt))

    def describe(self, incident: str, attempt: int) -> ExecutionState:
        """Return what became of it."""
        name = execution_name(incident, attempt)
        if name not in self.started:
            return ExecutionState.ABSENT
        return ExecutionState.ENDED if name in self._ended else ExecutionState.RUNNING

    def answer(self, token: str, answer: Answer) -> bool:
        """Answer the ask that waits with *token*."""
        with self._lock:
            if token not in self._waiting:
                return False
            self._waiting.remove(token)
            self.answers[token] = answer
            return True

    def wait_for(self, token: str) -> None:
        """Have an ask wait with *token*."""
        with self._lock:
            self._waiting.add(token)

    def give_up(self, token: str) -> None:
        """Have the ask with *token* time out."""
        with self._lock:
            self._waiting.discard(token)

    def end(self, incident: str, attempt: int) -> None:
        """End a run, however."""
        self._ended.add(execution_name(incident, attempt))

"""Dead letters in memory."""

from functions.ports.dead_letters import DeadLetter
from policies.contract.errors import DependencyError


class MemoryDeadLetters:
    """``letters`` holds each once a deduplication id, as the queue does within five minutes; ``down`` takes none."""

    def __init__(self) -> None:
        """Start empty and well."""
        self._letters: dict[str, DeadLetter] = {}
        self.down = False

    @property
    def letters(self) -> list[DeadLetter]:
        """Return what arrived, in order."""
        return list(self._letters.values())

    def send(self, letter: DeadLetter) -> None:
        """See the port."""
        if self.down:
            raise DependencyError("the dead-letter queue refuses.")
        self._letters.setdefault(letter.deduplication_id, letter)

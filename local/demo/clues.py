"""What the logs say about a story that did not end well: the last error of each Lambda function and of each agent.

Decides what counts: what stood there when the world was told to end. What parts write while they are taken down (a
worker that is killed in mid-call, an API that is gone) is no clue.
"""

import re
from pathlib import Path

_ERROR = re.compile(r"^(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|Timedout)\b.*")
_MOST = 5
_LONGEST = 300


class Clues:
    """The clues of one world. `take` is called as it is told to end."""

    def __init__(self, data_dir: Path) -> None:
        """Read nothing yet."""
        self._data_dir = data_dir
        self._taken: list[str] | None = None

    def take(self) -> None:
        """Keep what the logs say now; only the first time counts."""
        if self._taken is None:
            self._taken = find_clues(self._data_dir)

    def found(self) -> list[str]:
        """The clues that were taken; of a world that was never told to end, those of now."""
        self.take()
        return self._taken or []


def find_clues(data_dir: Path) -> list[str]:
    """One line a log that shows an error, at most five, functions first."""
    logs = [*sorted((data_dir / "aws" / "logs").glob("*.log")), *sorted((data_dir / "nodes").glob("*/agent.log"))]
    told = [(log, last_error(log.read_text(encoding="utf-8", errors="replace"))) for log in logs]
    return [f"{log.relative_to(data_dir)}: {error}"[:_LONGEST] for log, error in told if error][:_MOST]


def last_error(text: str) -> str:
    """The last line that ends a traceback or that Lambda writes about a dead worker; empty when there is none."""
    found = [line for line in text.splitlines() if _ERROR.match(line)]
    return found[-1] if found else ""

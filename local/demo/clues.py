"""What the logs say about a story that did not end well: the last error of each Lambda function and of each agent."""

import re
from pathlib import Path

_ERROR = re.compile(r"^(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|Timedout)\b.*")
_MOST = 5
_LONGEST = 300


def find_clues(data_dir: Path) -> list[str]:
    """One line a log that shows an error, at most five, functions first."""
    logs = [*sorted((data_dir / "aws" / "logs").glob("*.log")), *sorted((data_dir / "nodes").glob("*/agent.log"))]
    told = [(log, last_error(log.read_text(encoding="utf-8", errors="replace"))) for log in logs]
    return [f"{log.relative_to(data_dir)}: {error}"[:_LONGEST] for log, error in told if error][:_MOST]


def last_error(text: str) -> str:
    """The last line that ends a traceback or that Lambda writes about a dead worker; empty when there is none."""
    found = [line for line in text.splitlines() if _ERROR.match(line)]
    return found[-1] if found else ""

"""What the agent says about itself: one JSON object a line on stderr.

It must not know what is worth saying; nobody may hand it a secret.
"""

import json
import logging
import sys
from datetime import UTC, datetime

from policies.contract.times import format_time

_KNOWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """``{"at": .., "level": .., "logger": .., "message": .., and what was given as extra}``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return *record* as one line."""
        line = {
            "at": format_time(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **{name: value for name, value in vars(record).items() if name not in _KNOWN},
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def log_to_stderr() -> None:
    """Let all loggers write to stderr from INFO on, the SDK's from WARNING on (it logs requests below that)."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for name in ("boto3", "botocore", "urllib3"):
        logging.getLogger(name).setLevel(logging.WARNING)

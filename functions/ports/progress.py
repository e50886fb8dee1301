"""Where triage keeps how jobs go. It must not know AWS; the twin is `functions/twins/progress.py`."""

from datetime import datetime
from typing import Protocol

from functions.ports.facts import FactKey


class ProgressWriter(Protocol):
    """Writing the documents ``job`` of facts. Failures raise DependencyError."""

    def keep_newest(self, key: FactKey, text: str, at: datetime, expires: datetime) -> None:
        """Write *text*, which is of *at*, unless what is there is as new or newer: then nothing happens."""
        ...

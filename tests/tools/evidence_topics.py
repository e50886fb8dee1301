"""A reader of evidence that hangs in one part: loaded in the child process."""

import time
from pathlib import Path
from typing import Any

from agent.evidence.reading import Reading


class Hanging(Reading):
    """Writes a little of the kernel's log, and never comes back from it."""

    def answer(self, ask: dict[str, Any]) -> dict[str, Any]:
        """See `Reading.answer`."""
        if ask["part"] != "kernel":
            return super().answer(ask)
        (Path(ask["folder"]) / ".kernel.log").write_text("as far as it came\n")
        time.sleep(3600)
        return {}

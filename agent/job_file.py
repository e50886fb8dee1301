"""Which job runs here: a small JSON file that the training side or the operator's launcher keeps.

Read again when it changed, when an event is made. A file that is missing, half-written or wrong never stops an event: a
missing one means no job, a broken one means the job last read. It must not know how a job is used.
"""

import logging
import os
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from policies.contract.envelope import explain
from policies.contract.events import JobRef

log = logging.getLogger(__name__)

_FILE_LIMIT = 64 * 1024
JobSource = Callable[[], JobRef | None]


class JobFile:
    """The job named in the file at *path*, or none without a path."""

    def __init__(self, path: Path | None) -> None:
        """Nothing is read yet."""
        self._path = path
        self._stamp: tuple[int, int, int] | None = None
        self._job: JobRef | None = None

    def __call__(self) -> JobRef | None:
        """Return the job that runs here now, as far as the file says."""
        if self._path is None:
            return None
        try:
            status = self._path.stat()
        except OSError:
            self._stamp, self._job = None, None
            return None
        stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        if stamp != self._stamp:
            self._stamp = stamp
            self._read(self._path)
        return self._job

    def _read(self, path: Path) -> None:
        try:
            # Whoever may write here may put a pipe here, and a reader of that waits for ever.
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            try:
                self._job = JobRef.model_validate_json(os.read(descriptor, _FILE_LIMIT))
            finally:
                os.close(descriptor)
        except ValidationError as error:
            log.warning(
                "job file is not right; keeping the job before", extra={"path": str(path), "error": explain(error)}
            )
        except OSError as error:
            log.warning("job file cannot be read", extra={"path": str(path), "error": error.strerror})

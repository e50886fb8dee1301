"""The pointer object: `relight-resume.json` beside the checkpoints says where to resume, for whoever reads it at start.

Written on condition, so that of two writers the later one sees the earlier. It must not choose.
"""

import json
from datetime import datetime

from functions.ports.objects import Location, Objects
from policies.contract.errors import DependencyError
from policies.contract.times import format_time

NAME = "relight-resume.json"


def write_pointer(objects: Objects, where: Location, *, step: int, path: str, incident: str, now: datetime) -> None:
    """Write {step, path, incident, time} unless it stands there for this incident and step already.

    DependencyError when somebody else wrote in between: look again.
    """
    key = where.key(NAME)
    body = json.dumps({"step": step, "path": path, "incident": incident, "time": format_time(now)}).encode()
    # Written before it is read: without the right to list the bucket, S3 forbids reading what is not there.
    if objects.put_if_absent(where.bucket, key, body):
        return
    stored = objects.get(where.bucket, key)
    if stored is not None and _says(stored.body, step, path, incident):
        return
    if stored is None or not objects.put_if_match(where.bucket, key, body, stored.etag):
        raise DependencyError(f"{where.address(NAME)} was written by somebody else meanwhile.", hint="Retry.")


def _says(body: bytes, step: int, path: str, incident: str) -> bool:
    try:
        pointer = json.loads(body)
    except (ValueError, RecursionError):
        return False
    wanted = {"step": step, "path": path, "incident": incident}
    return isinstance(pointer, dict) and wanted.items() <= pointer.items()

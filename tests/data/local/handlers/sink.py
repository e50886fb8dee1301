"""Lambda handlers for the tests of the embedded AWS: each writes what it was given to a file and obeys its records.

A record's body is JSON. `poison` makes it fail for ever, `fail_times` that often; `sleep` takes that many seconds.
"""

import base64
import json
import os
import time
from pathlib import Path
from typing import Any

import boto3

OUT = Path(os.environ.get("OUT_FILE", os.devnull))


def _note(entry: dict[str, Any]) -> None:
    with OUT.open("a") as out:
        out.write(json.dumps({"at": time.time(), **entry}) + "\n")


def _body(record: dict[str, Any]) -> dict[str, Any]:
    if "kinesis" in record:
        return dict(json.loads(base64.b64decode(record["kinesis"]["data"])))
    if "body" in record:
        return dict(json.loads(record["body"]))
    return {name: next(iter(value.values())) for name, value in record["dynamodb"].get("NewImage", {}).items()}


def _identifier(record: dict[str, Any]) -> str:
    if "kinesis" in record:
        return str(record["kinesis"]["sequenceNumber"])
    return str(record.get("messageId") or record["dynamodb"]["SequenceNumber"])


def _seen(body: dict[str, Any]) -> int:
    if not OUT.exists():
        return 0
    return sum(body.get("id") in json.loads(line).get("ids", []) for line in OUT.read_text().splitlines())


def _fails(body: dict[str, Any]) -> bool:
    return bool(body.get("poison")) or _seen(body) < int(body.get("fail_times", 0))


def records(event: dict[str, Any], _context: object) -> dict[str, Any] | None:
    bodies = [_body(record) for record in event["Records"]]
    failing = [_fails(body) for body in bodies]
    for body in bodies:
        time.sleep(float(body.get("sleep", 0)))
    _note({"ids": [body.get("id") for body in bodies], "event": event})
    if os.environ.get("REPORT") == "yes":
        identifiers = [_identifier(record) for record, fails in zip(event["Records"], failing, strict=True) if fails]
        return {"batchItemFailures": [{"itemIdentifier": identifier} for identifier in identifiers]}
    if any(failing):
        raise RuntimeError("a record of this batch is poisoned")
    return None


def event(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Anything else: obey the event itself."""
    _note({"event": event})
    time.sleep(float(event.get("sleep", 0)))
    if event.get("exit"):
        os._exit(3)
    if event.get("raise"):
        raise ValueError(event["raise"])
    if event.get("call"):
        client = boto3.client(event["call"]["service"])
        return {"answer": str(getattr(client, event["call"]["operation"])(**event["call"].get("arguments", {})))[:2000]}
    return {
        "event": event,
        "pid": os.getpid(),
        "function": context.function_name,
        "remaining": context.get_remaining_time_in_millis(),
        "environment": dict(os.environ),
    }

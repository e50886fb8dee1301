"""Faults on command: the next calls of an operation fail, lose their answer, or cost their caller its life."""

import base64
import binascii
import threading
from dataclasses import dataclass, replace
from typing import Any, Literal

from local.aws.calls import Call


@dataclass(frozen=True, slots=True)
class Fault:
    """What is to happen to the next `times` calls. No `error_code`: the call is done, its answer is dropped.

    `kill`: the calling process is killed before the call is done, or after it and before it hears of it.
    `containing`: only calls whose body (or the record in it) holds this text.
    """

    service: str
    operation: str
    times: int
    error_code: str | None = None
    principal: str | None = None
    containing: str = ""
    kill: Literal["before", "after"] | None = None
    message: str = "failed on purpose"

    def matches(self, call: Call) -> bool:
        return (
            (call.service, call.operation) == (self.service, self.operation)
            and self.principal in {None, call.principal}
            and (not self.containing or self.containing.encode() in call.body + _record(call))
        )


def _record(call: Call) -> bytes:
    """What Kinesis is given, which travels as base64."""
    try:
        return base64.b64decode(str(call.parameters.get("Data", "")))
    except (binascii.Error, ValueError):
        return b""


class Faults:
    """The faults still to come, oldest first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pending: list[Fault] = []

    def add(self, fault: Fault) -> None:
        with self._lock:
            self._pending.append(fault)

    def clear(self) -> None:
        with self._lock:
            self._pending.clear()

    def take(self, call: Call) -> Fault | None:
        """The fault for this call, counted down."""
        if not self._pending:
            return None
        with self._lock:
            for index, fault in enumerate(self._pending):
                if fault.matches(call):
                    left = replace(fault, times=fault.times - 1)
                    self._pending[index : index + 1] = [left] if left.times > 0 else []
                    return fault
        return None

    def pending(self) -> list[dict[str, Any]]:
        with self._lock:
            return [{"service": f.service, "operation": f.operation, "times": f.times} for f in self._pending]

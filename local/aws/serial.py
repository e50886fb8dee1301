"""Which services do one thing at a time, and the locks for that.

moto's backends are plain dictionaries, written for one thread: two conditional writes at the same moment could both
see the old item and both succeed. None of the operations of these services blocks.
"""

import contextlib
import threading
from collections.abc import Mapping

# Service → the name of its lock. Auto Scaling works on EC2's instances.
_LOCKS: Mapping[str, str] = {
    "autoscaling": "ec2",
    "dynamodb": "dynamodb",
    "ec2": "ec2",
    "eks": "eks",
    "iam": "iam",
    "s3": "s3",
    "sagemaker": "sagemaker",
    "ssm": "ssm",
}


class Serial:
    """One re-entrant lock a group of services."""

    def __init__(self) -> None:
        self._locks = {name: threading.RLock() for name in _LOCKS.values()}

    def of(self, service: str) -> contextlib.AbstractContextManager[object]:
        """The lock of a service by its IAM prefix; no lock for a service that may do several things at once."""
        name = _LOCKS.get(service)
        return self._locks[name] if name is not None else contextlib.nullcontext()

"""Who called what on which resource, how often. Kept as counts, so that a long run stays small."""

import json
import threading
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from local.aws.calls import Call
from local.aws.needs import needs_of
from local.aws.recorder_types import Context, Need, RecordedCall

# How many different objects, items or instances are told apart for one principal, action and bucket, table or kind.
# The rest count with the first: a right that holds for these many holds for the others, or the policy is very odd.
MAX_VARIANTS = 64

_Group = tuple[str, str, tuple[str, ...]]
_Variant = tuple[tuple[str, ...], Context]


class Recorder:
    """Counts calls."""

    def __init__(self, *, enabled: bool, account: str) -> None:
        self._enabled = enabled
        self._account = account
        self._lock = threading.Lock()
        self._groups: dict[_Group, Counter[_Variant]] = {}

    def record_call(self, call: Call) -> None:
        """Count a request by the rights that it needs."""
        if not self._enabled:
            return
        for need in needs_of(call, self._account):
            self._count(call.principal, need)

    def record(self, principal: str, action: str, resources: tuple[str, ...]) -> None:
        """Count something that AWS does under a role without a request here (a poller's reads, a delivery)."""
        if self._enabled:
            self._count(principal, Need(action, resources))

    def _count(self, principal: str, need: Need) -> None:
        group = (principal, need.action, tuple(_family(resource) for resource in need.resources))
        variant = (need.resources, need.context)
        with self._lock:
            variants = self._groups.setdefault(group, Counter())
            if variant not in variants and len(variants) >= MAX_VARIANTS:
                variant = next(iter(variants))
            variants[variant] += 1

    def calls(self) -> list[RecordedCall]:
        with self._lock:
            return sorted(
                RecordedCall(principal, action, resources, count, context)
                for (principal, action, _), variants in self._groups.items()
                for (resources, context), count in variants.items()
            )

    def dump(self, path: Path) -> None:
        """Write one JSON line a recorded call."""
        path.write_text("".join(json.dumps(asdict(call)) + "\n" for call in self.calls()))


def _family(resource: str) -> str:
    """What a resource is one of: the bucket of an object, the kind of an instance; other resources stand alone."""
    if resource.startswith("arn:aws:s3:::"):
        return resource.split("/", 1)[0]
    if resource.startswith(("arn:aws:ec2:", "arn:aws:sagemaker:")):
        return resource.rsplit("/", 1)[0]
    return resource

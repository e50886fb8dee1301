"""What was done to the world, as the world saw it: instances given up, jobs suspended and resumed.

One act an incident is right; more are repeats. Kubernetes tells by its audit log, AWS by its record of calls.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from local.aws.recorder_types import RecordedCall
from local.kubernetes.audit import Entry

# Whatever ends an instance: by the group, or by EC2 itself.
_ENDING = frozenset({
    "autoscaling:TerminateInstanceInAutoScalingGroup",
    "ec2:TerminateInstances",
    "ec2:StopInstances",
    "ec2:RebootInstances",
})  # fmt: skip
_FAILED = 400


@dataclass(frozen=True, slots=True)
class Acts:
    """How often each kind of act happened."""

    endings: int
    suspensions: int
    resumptions: int

    def beyond(self, allowed: "Acts") -> int:
        """How many acts there were more than *allowed* of each kind."""
        pairs = (
            (self.endings, allowed.endings),
            (self.suspensions, allowed.suspensions),
            (self.resumptions, allowed.resumptions),
        )
        return sum(max(0, seen - most) for seen, most in pairs)


def observe(calls: Sequence[RecordedCall], audit: Sequence[Entry]) -> Acts:
    """Count what was done. A patch that was refused (a conflict) did nothing."""
    wanted = [_wanted_suspension(entry) for entry in audit]
    return Acts(
        endings=sum(call.count for call in calls if call.action in _ENDING),
        suspensions=sum(value is True for value in wanted),
        resumptions=sum(value is False for value in wanted),
    )


def _wanted_suspension(entry: Entry) -> bool | None:
    """What this write asked of a job's `spec.runPolicy.suspend`; None when it asked nothing or was refused."""
    if entry.target.kind.plural != "pytorchjobs" or entry.verb != "patch" or entry.code >= _FAILED:
        return None
    value: Any = entry.body
    if isinstance(value, list):
        found = [step.get("value") for step in value if step.get("path") == "/spec/runPolicy/suspend"]
        value = found[-1] if found else None
    else:
        for key in ("spec", "runPolicy", "suspend"):
            value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, bool) else None

"""The life of an instance: it takes time to boot and to end, and EventBridge hears of each state.

moto makes instances run and end within the call, and tells nobody. Delays are nominal seconds (scaled); they are zero
until the fleet sets them, and then `pending` and `shutting-down` can be seen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from moto.ec2.models import EC2Backend
from moto.ec2.models.instances import Instance, InstanceBackend

from local.aws import backends
from local.aws.clock import Clock
from local.aws.delays import Delays
from local.aws.events.bus import Emit
from local.aws.patches.replacing import replace

_CODES = {"pending": 0, "running": 16, "shutting-down": 32, "terminated": 48, "stopping": 64, "stopped": 80}


@dataclass
class LifecycleDelays:
    """Nominal seconds from pending to running, and from shutting-down (or stopping) to the end."""

    boot: float = 0.0
    shutdown: float = 0.0


class InstanceLifecycle:
    """Moves instances through their states and tells the default bus."""

    def __init__(self, *, emit: Emit, delays: Delays, clock: Clock, region: str) -> None:
        self.times = LifecycleDelays()
        self._emit = emit
        self._delays = delays
        self._clock = clock
        self._region = region

    def set_delays(self, boot: float | None = None, shutdown: float | None = None) -> None:
        """How long instances take from now on."""
        self.times = LifecycleDelays(
            self.times.boot if boot is None else boot, self.times.shutdown if shutdown is None else shutdown
        )

    def apply(self) -> None:
        """Let every way to start or end an instance go through its states."""
        run = InstanceBackend.run_instances

        def run_instances(backend: Any, *args: Any, **kwargs: Any) -> Any:
            reservation = run(backend, *args, **kwargs)
            for instance in reservation.instances:
                self._through(instance, "pending", "running", self.times.boot)
            return reservation

        for owner in (InstanceBackend, EC2Backend):
            if "run_instances" in vars(owner):
                replace(owner, "run_instances", run_instances)
        self._wrap("terminate", "shutting-down", "terminated", lambda: self.times.shutdown)
        self._wrap("stop", "stopping", "stopped", lambda: self.times.shutdown)
        self._wrap("start", "pending", "running", lambda: self.times.boot)

    def _wrap(self, method: str, first: str, last: str, seconds: Callable[[], float]) -> None:
        original = getattr(Instance, method)

        def change(instance: Any, *args: Any, **kwargs: Any) -> Any:
            if instance.state in {first, last, "terminated"}:  # nothing changes, nobody is told
                return original(instance, *args, **kwargs) if instance.state == last else _snapshot(instance)
            previous = original(instance, *args, **kwargs)
            self._through(instance, first, last, seconds())
            return previous

        replace(Instance, method, change)

    def _through(self, instance: Any, first: str, last: str, seconds: float) -> None:
        self._enter(instance, first)
        if seconds <= 0:
            self._enter(instance, last)
            return
        self._delays.call_later(self._clock.real_seconds(seconds), lambda: self._finish(instance, first, last))

    def _finish(self, instance: Any, first: str, last: str) -> None:
        if instance.state == first:  # it may have been ended while it booted
            self._enter(instance, last)

    def _enter(self, instance: Any, state: str) -> None:
        instance._state.name, instance._state.code = state, _CODES[state]
        self._emit(
            source="aws.ec2",
            detail_type="EC2 Instance State-change Notification",
            detail={"instance-id": instance.id, "state": state},
            resources=[f"arn:aws:ec2:{self._region}:{backends.ACCOUNT}:instance/{instance.id}"],
        )


def _snapshot(instance: Any) -> Any:
    return type(instance._state)(instance._state.name, instance._state.code)

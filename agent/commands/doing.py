"""What one operation has to be on this node: when it may run, how it is done, how it is seen to have worked.

It must not know the table or how commands are chosen.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeVar

from policies.contract.commands.command import Claim
from policies.contract.commands.operations import Params
from policies.contract.events import Scalar

P_contra = TypeVar("P_contra", bound=Params, contravariant=True)


class Resource(StrEnum):
    """What only one operation at a time may work on."""

    GPUS = "gpus"
    EVIDENCE = "evidence"
    SAVE = "save"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended. ``output`` is all that was said, as far as it was kept; ``reason`` is for whoever asked."""

    ok: bool
    reason: str = ""
    output: str = ""
    address: str = ""
    facts: Mapping[str, Scalar] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Errand:
    """One run of one command. ``rebooted``: it was begun in another boot than this one."""

    id: str
    claim: Claim
    seconds: float
    stop: threading.Event
    rebooted: bool = False
    began: float = field(default_factory=time.monotonic)

    @property
    def left(self) -> float:
        """How many seconds it may still take."""
        return max(0.0, self.began + self.seconds - time.monotonic())

    def until(self, happened: Callable[[], bool], seconds: float, every: float = 0.2) -> bool:
        """Wait until it has *happened*, at most so many seconds and no longer than the errand; tell whether it did."""
        deadline = time.monotonic() + min(seconds, self.left)
        while not happened():
            if time.monotonic() >= deadline or self.stop.wait(min(every, max(0.0, deadline - time.monotonic()))):
                return happened()
        return True


class Doing(Protocol[P_contra]):
    """One operation. What it raises fails the command with that reason."""

    @property
    def resource(self) -> Resource:
        """What it needs for itself."""
        ...

    def why_not(self, params: P_contra) -> str:
        """Return why it may not run now: its precondition, in words for an operator; empty when it may."""
        ...

    def run(self, params: P_contra, errand: Errand) -> Outcome:
        """Do it, within the errand's time, and look whether it worked."""
        ...

    def look_back(self, params: P_contra, errand: Errand) -> Outcome:
        """Tell what became of it: whoever began it ended in the middle. Nothing is done again."""
        ...

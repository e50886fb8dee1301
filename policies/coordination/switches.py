"""What may act at this moment: the mode in force of each policy, who put itself in shadow, and the stop of everything.

An incident keeps the revision it was opened under; these are read anew at each ask. It must not know what follows for
an incident (`halting.py` does).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from policies.contract.base import Model
from policies.contract.times import Moment
from policies.contract.vocabulary import PolicyMode

EVERYTHING = "#everything"
"""The switch's name in the policies table. No policy can be called so: theirs are lower-case words and hyphens."""


class SelfShadow(Model):
    """A policy put itself in shadow, until a person lifts it. A switch of its own: the operator's item stays as it is.

    ``incident`` is the one that was too many. A lifted one is kept: what was done before counts no more.
    """

    policy: str
    cluster: str
    incident: str
    since: Moment
    why: str
    lifted_at: Moment | None = None
    lifted_by: str = ""
    lifted_why: str = ""
    version: int = 1

    @property
    def told(self) -> str:
        """Return what a person reads of it."""
        return f"{self.why}, since {self.since:%Y-%m-%d %H:%M:%S} UTC"


@dataclass(frozen=True)
class Switches:
    """``modes`` is policy -> mode in force, ``otherwise`` that of all others: what is not in force does not act.

    ``stop`` says who stopped everything and why; it is empty while nobody has. ``shadows`` are those who put themselves
    in shadow, lifted ones too. ``revisions`` are those in force of policies of which that was read.
    """

    modes: Mapping[str, PolicyMode] = field(default_factory=dict)
    stop: str = ""
    otherwise: PolicyMode = PolicyMode.OFF
    shadows: Mapping[str, SelfShadow] = field(default_factory=dict)
    revisions: Mapping[str, int] = field(default_factory=dict)

    def is_edited(self, policy: str, since: int) -> bool:
        """Whether another revision of *policy* than *since* is known to be in force."""
        return self.revisions.get(policy, since) != since

    def why_not(self, policy: str, *, begun: bool = False) -> str:
        """Return why *policy* may not act now, empty when it may.

        What it has *begun* goes on when it puts itself in shadow: it was within what it may do.
        """
        if self.stop:
            return self.stop
        mode = self.modes.get(policy, self.otherwise)
        if mode is not PolicyMode.ACTIVE:
            return f"policy {policy} is {'in shadow' if mode is PolicyMode.SHADOW else 'off'}"
        shadow = None if begun else self.self_shadow(policy)
        return f"policy {policy} has put itself in shadow: {shadow.told}" if shadow else ""

    def is_active(self, policy: str) -> bool:
        """Whether the mode of *policy*, which was asked for, lets it act; its self-shadow and the stop aside."""
        return self.modes.get(policy, self.otherwise) is PolicyMode.ACTIVE

    def self_shadow(self, policy: str) -> SelfShadow | None:
        """Return the self-shadow that *policy* is in, None when it is in none."""
        shadow = self.shadows.get(policy)
        return shadow if shadow and shadow.lifted_at is None else None

    def lifted_at(self, policy: str) -> datetime | None:
        """Return when a person lifted the last self-shadow of *policy*, None when it is in one or was in none."""
        shadow = self.shadows.get(policy)
        return shadow.lifted_at if shadow else None

    def with_shadow(self, shadow: SelfShadow) -> "Switches":
        """Return these with *shadow* on."""
        return replace(self, shadows={**self.shadows, shadow.policy: shadow})


ALL_ACTIVE = Switches(otherwise=PolicyMode.ACTIVE)
"""Nothing is switched off: for rehearsals that have no policies table."""


def stop_of(item: Mapping[str, Any] | None) -> str:
    """Return why everything is stopped, from the switch's item as a person wrote it; empty when it is not.

    Any mode but ``active`` stops: whoever writes this item in a hurry wants that, however it is spelt.
    """
    if item is None or item.get("mode") == PolicyMode.ACTIVE:
        return ""
    by, reason = (item.get(field) if isinstance(item.get(field), str) else "" for field in ("edited_by", "reason"))
    return f"everything is stopped{f' by {by}' if by else ''}{f': {reason}' if reason else ''}"

"""What may act at this moment: the mode in force of each policy, and the switch that stops everything.

An incident keeps the revision it was opened under; these are read anew at each ask. It must not know what follows for
an incident (`halting.py` does).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from policies.contract.vocabulary import PolicyMode

EVERYTHING = "#everything"
"""The switch's name in the policies table. No policy can be called so: theirs are lower-case words and hyphens."""


@dataclass(frozen=True)
class Switches:
    """``modes`` is policy -> mode in force, ``otherwise`` that of all others: what is not in force does not act.

    ``stop`` says who stopped everything and why; it is empty while nobody has.
    """

    modes: Mapping[str, PolicyMode] = field(default_factory=dict)
    stop: str = ""
    otherwise: PolicyMode = PolicyMode.OFF

    def why_not(self, policy: str) -> str:
        """Return why *policy* may not act now, empty when it may."""
        if self.stop:
            return self.stop
        mode = self.modes.get(policy, self.otherwise)
        if mode is PolicyMode.ACTIVE:
            return ""
        return f"policy {policy} is {'in shadow' if mode is PolicyMode.SHADOW else 'off'}"


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

"""Why one policy did or did not fire: the one word for it, the sentence, and all that it rests on."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from policies.contract.decisions import Finding
from policies.contract.times import format_time
from policies.contract.vocabulary import PolicyMode
from policies.explain.asked import Asked
from policies.explain.known import Known
from policies.explain.standing import Standing

_WHAT = frozenset({"event.kind", "event.attributes.xid", "event.attributes.sxid"})


class Outcome(StrEnum):
    """What became of one event under one policy."""

    FIRED = "fired"  # a finding went to coordinate
    TOLD = "told_already"  # it is enough, and was told before
    CANCELS = "cancels"  # it takes the reason away: what settles is called off
    WAITS = "waits"  # it counts, and is not enough yet
    EXCEPTED = "excepted"  # `unless` holds
    UNANSWERED = "unanswered"  # a member that is asked for is not there
    NO_MATCH = "no_match"  # `when` does not hold
    OFF = "off"  # nobody asks it


@dataclass(frozen=True)
class Verdict:
    """``then`` says what coordinate does with the findings: which rungs, or why nothing. ``facts`` were asked for."""

    policy: str
    revision: int
    mode: PolicyMode
    outcome: Outcome
    reason: str
    when: Asked | None = None
    unless: Asked | None = None
    standing: Standing | None = None
    findings: tuple[Finding, ...] = ()
    then: tuple[str, ...] = ()
    facts: Known | None = None

    @property
    def fired(self) -> bool:
        """Whether a finding came out."""
        return self.outcome is Outcome.FIRED

    @property
    def concerns(self) -> bool:
        """Whether the event meant anything to the policy."""
        return self.outcome not in {Outcome.NO_MATCH, Outcome.OFF}

    @property
    def is_near(self) -> bool:
        """Whether it asks for what happened, and something else of it did not fit."""
        if self.when is None or self.outcome is not Outcome.NO_MATCH:
            return False
        read = {name for part in self.when.decisive() for name in part.values}
        return bool(read) and not read & _WHAT

    def document(self) -> dict[str, Any]:
        """Return it for machines."""
        return {
            "policy": self.policy,
            "revision": self.revision,
            "mode": self.mode.value,
            "outcome": self.outcome.value,
            "reason": self.reason,
            "when": self.when.document() if self.when else None,
            "unless": self.unless.document() if self.unless else None,
            "count": self.standing.document() if self.standing else None,
            "findings": [_finding(each) for each in self.findings],
            "then": list(self.then),
            "facts": self.facts.document() if self.facts else None,
        }


def _finding(finding: Finding) -> dict[str, Any]:
    start, end = format_time(finding.window_start), format_time(finding.observed_at)
    return {"id": finding.id, "count": finding.count, "window_start": start, "observed_at": end, "late": finding.late}

"""What persons said of an incident afterwards, as its document keeps it: one word a question, the latest counts.

Decides which of two judgements counts: the one that was given later, whichever arrives first. It must not know what
follows from one (`policies/precision/` does).
"""

from collections.abc import Sequence

from policies.contract.base import Model
from policies.contract.restraints import VerdictMessage, VerdictWord
from policies.contract.times import Moment

LONGEST_WORDS = 300  # a record keeps two hundred of them, and an item has 400 KB
MOST_JUDGEMENTS = 16  # one on the hardware, the others on policies that missed it


class Judgement(Model):
    """``policy`` is whose miss it is; empty where the hardware is meant. An ``unknown`` takes the word before back."""

    verdict: VerdictWord
    at: Moment
    by: str
    why: str = ""
    policy: str = ""


def of_hardware(judgements: Sequence[Judgement]) -> Judgement | None:
    """Return which of *judgements* says how the hardware was; None when nobody says so, or no more."""
    return next((each for each in judgements if not each.policy and each.verdict != "unknown"), None)


def missed_by(judgements: Sequence[Judgement]) -> tuple[str, ...]:
    """Return the policies that should have found it before."""
    return tuple(each.policy for each in judgements if each.policy and each.verdict == "missed")


def judged(before: tuple[Judgement, ...], message: VerdictMessage) -> tuple[Judgement, ...]:
    """Return *before* with what *message* says; the same where it says nothing new, or was given earlier."""
    by, why, policy = (each[:LONGEST_WORDS] for each in (message.by, message.reason, message.policy))
    told = Judgement(verdict=message.verdict, at=message.at, by=by, why=why, policy=policy)
    known = next((each for each in before if each.policy == told.policy), None)
    if known and (known.at, known.verdict, known.by, known.why) >= (told.at, told.verdict, told.by, told.why):
        return before
    others = (each for each in before if each.policy != told.policy)
    kept = sorted((*others, told), key=lambda each: (not each.policy, each.at))[-MOST_JUDGEMENTS:]
    return tuple(sorted(kept, key=lambda each: each.policy))

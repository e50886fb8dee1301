"""Why nobody acts on a finding: in words, and with the refusal itself where a person said no.

Words are for people, and persons write parts of them: whoever asks whether it was a no looks at the refusal. It must
not decide why.
"""

from typing import NamedTuple

from policies.coordination.denials import Refusal, told


class Why(NamedTuple):
    """``text`` is empty where somebody acts, and the same as long as it is for the same reason."""

    text: str = ""
    refusal: Refusal | None = None


def of_refusal(refusal: Refusal | None) -> Why:
    """Return that *refusal* is why nobody acts; None: there is none."""
    return Why(told(refusal.denial), refusal) if refusal else Why()

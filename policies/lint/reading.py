"""An accepted policy, read once for all checks: its condition's alternatives, its kinds, what it does.

It must not judge.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from policies.contract.vocabulary import TOUCHES_NOTHING, Action, Kind, PolicyMode
from policies.expressions.tokens import Token, tokenise
from policies.lint.branches import Branch, branches_of
from policies.model import Policy

KIND, XID = "event.kind", "event.attributes.xid"
ON_NODES = frozenset(
    {Action.ISOLATE, Action.DRAIN, Action.RESET_GPU, Action.RELOAD_DRIVER, Action.REBOOT_NODE, Action.REPLACE_NODE}
)
HARD = ON_NODES - {Action.ISOLATE, Action.DRAIN}
"""Acts on a node that end whatever runs on it."""


@dataclass(frozen=True)
class Reading:
    """One policy."""

    policy: Policy

    @cached_property
    def when(self) -> tuple[Branch, ...]:
        """The alternatives of `when`, those that can never hold among them."""
        return branches_of(self.policy.when)

    @cached_property
    def possible(self) -> tuple[Branch, ...]:
        """The alternatives of `when` that can hold."""
        return tuple(branch for branch in self.when if not branch.contradiction)

    @cached_property
    def unless(self) -> tuple[Branch, ...]:
        """The alternatives of `unless`; none when it excepts nothing."""
        return branches_of(self.policy.unless)

    @cached_property
    def tokens(self) -> tuple[tuple[str, tuple[Token, ...]], ...]:
        """The tokens of each condition, by its field."""
        policy = self.policy
        told = (("when", policy.when), ("unless", policy.unless), ("cancel_when", policy.cancel_when))
        return tuple((field, tokenise(text)) for field, text in told if text is not None)

    @property
    def is_active(self) -> bool:
        """Whether it may act."""
        return self.policy.mode is PolicyMode.ACTIVE

    @property
    def is_off(self) -> bool:
        """Whether nobody asks it."""
        return self.policy.mode is PolicyMode.OFF

    @property
    def acts(self) -> frozenset[Action]:
        """What `do` does to nodes and runs."""
        return frozenset(self.policy.do) - TOUCHES_NOTHING

    @property
    def ladders(self) -> tuple[tuple[str, frozenset[Action]], ...]:
        """Both ladders by their field."""
        return ("do", frozenset(self.policy.do)), ("otherwise", frozenset(self.policy.otherwise))

    @property
    def counts_jobs(self) -> bool:
        """Whether it waits for the same under different jobs: then it is the node's doing after all."""
        return self.policy.count.distinct == "job.id" and self.policy.count.at_least > 1


def kinds_of(branch: Branch) -> frozenset[str] | None:
    """Return the kinds that *branch* is tied to, None for any."""
    texts = branch.texts(KIND)
    return None if texts is None else frozenset(str(text) for text in texts)


def xids_of(branch: Branch) -> frozenset[int] | None:
    """Return the Xids that *branch* is tied to, None for any."""
    texts = branch.texts(XID)
    return None if texts is None else frozenset(text for text in texts if isinstance(text, int))


def only_kinds(branches: Iterable[Branch], known: frozenset[Kind]) -> list[str]:
    """Return the kinds of the branches that are tied to *known* ones alone."""
    found = (kinds_of(branch) for branch in branches)
    return sorted({kind for kinds in found if kinds and kinds <= known for kind in kinds})

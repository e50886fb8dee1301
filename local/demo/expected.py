"""What must have come of one fault in the end. Pure data: it judges nothing."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Expected:
    """The right end of one fault.

    ``policy`` is whose incident it is, and the only one that acts. ``stages`` are reached once each, in that order.
    ``replaces_node``: one instance is given up and one started; else none. ``agents_speak``: the fault is told by an
    agent, so that at least one event was sent.
    """

    policy: str
    stages: tuple[str, ...]
    replaces_node: bool
    agents_speak: bool = True

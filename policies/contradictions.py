"""What of a policy does not go together: each field is good by itself, and the two of them are not.

Decides by the fields alone, so that a mistake elsewhere hides none of these. It must not know how they were written.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from policies.contract.vocabulary import ONLY_TELLS, Action
from policies.scopes import WIDE

if TYPE_CHECKING:
    from policies.model import PolicyFields

# What a count over many nodes may lead to: it accuses none of them. What is done to a run is done to one job's.
_DONE_TO_RUNS = frozenset({Action.COLLECT_EVIDENCE, Action.SUSPEND_JOB, Action.RESUME_JOB, Action.REQUEUE_JOB})


class Contradiction(NamedTuple):
    """``path`` is the field to mend; it ``rests_on`` these fields, and says nothing where one of them is wrong."""

    path: str
    rests_on: frozenset[str]
    reason: str
    hint: str = ""


def contradictions(policy: "PolicyFields") -> Iterator[Contradiction]:
    """Yield what of *policy* does not go together."""
    for field, ladder in (("do", policy.do), ("otherwise", policy.otherwise)):
        if len(set(ladder)) != len(ladder):
            once = ", ".join(dict.fromkeys(ladder))
            yield _of(field, "", "name each action once", f"Write {field}: [{once}].")
    if Action.RECORD in policy.do and len(policy.do) > 1:
        others = ", ".join(dict.fromkeys(action for action in policy.do if action is not Action.RECORD))
        hint = f"Write do: [{others or 'record'}]."
        yield _of("do", "", "record stands alone; every decision is recorded anyway", hint)
    yield from _order(policy)
    if policy.settle >= policy.deadline:
        yield _of("settle", "deadline", "settle is as long as the deadline", "Shorten it, or give deadline more.")
    if policy.dwell is not None and "count" in policy.model_fields_set and policy.count.model_fields_set - {"per"}:
        reason = "for asks how long one condition holds, so of count only per goes with it"
        yield _of("for", "count", reason, "Leave out one of the two.")
    yield from _accused(policy)


def _order(policy: "PolicyFields") -> Iterator[Contradiction]:
    if Action.REPLACE_NODE not in policy.do or Action.ISOLATE in policy.do[: policy.do.index(Action.REPLACE_NODE)]:
        return
    mended = ", ".join((Action.ISOLATE, *(action for action in policy.do if action is not Action.ISOLATE)))
    reason = "isolate comes before replace_node, or new work lands on the node that goes"
    yield _of("do", "", reason, f"Write do: [{mended}].")


def _accused(policy: "PolicyFields") -> Iterator[Contradiction]:
    """What a count over many nodes cannot carry."""
    per = policy.count.per
    if per not in WIDE:
        return
    may = ONLY_TELLS | _DONE_TO_RUNS if per == "job" else ONLY_TELLS
    for field, ladder in (("do", policy.do), ("otherwise", policy.otherwise)):
        for action in dict.fromkeys(ladder):
            if action not in may:
                whose = "a run" if action in _DONE_TO_RUNS else "a node"
                reason = f"{action} is done to {whose}, and a count per {per} accuses none"
                yield _of(field, "count", reason, f"Known there: {', '.join(sorted(may))}.")
    about_one = ("for", policy.dwell), ("cancel_when", policy.cancel_when)
    for field in (name for name, value in about_one if value is not None):
        reason = f"for and cancel_when look at one node, a count per {per} at many: that it is over on one says little"
        yield _of(field, "count", reason, "event.attributes.ongoing asks for what has lasted ten minutes.")


def _of(path: str, beside: str, reason: str, hint: str = "") -> Contradiction:
    return Contradiction(path, frozenset({path, beside} - {""}), reason, hint)

"""Which policies are in shadow, and what they would do: by their mode, or since they put themselves there.

It must not judge what they found.
"""

from functions.ports.coordination import SwitchReader
from functions.ports.policies import Head, PolicyHeads
from policies.contract.decisions import PolicyPlan
from policies.contract.vocabulary import PolicyMode
from policies.loader import load_stored
from policies.model import Policy


def in_shadow(heads: PolicyHeads, switches: SwitchReader) -> dict[str, PolicyPlan]:
    """Return the plans of the policies in shadow, by name. DependencyError when they cannot be read."""
    names = [heading.name for heading in heads.headings() if heading.mode is not PolicyMode.OFF]
    known = switches.read(names)
    plans = {name: _plan(head) for name, head in heads.heads(names).items()}
    return {
        name: plan
        for name, plan in plans.items()
        if plan and (plan.mode is PolicyMode.SHADOW or known.self_shadow(name) is not None)
    }


def _plan(head: Head) -> PolicyPlan | None:
    """Return what *head* asks for; None where this version cannot read it, or it is off."""
    loaded = load_stored(head.document)
    return loaded.plan(head.revision) if isinstance(loaded, Policy) and head.mode is not PolicyMode.OFF else None

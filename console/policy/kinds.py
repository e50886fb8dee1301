"""`relight policy kinds`: what a policy may ask for, before an event of that kind was ever seen.

Decides which kinds a person means and who asks for one among the policies that come along. It needs no account.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.text import Text

from console.asked_wrongly import AskedWronglyError
from console.policy.files import files_of, read
from console.rows import print_rows
from console.saying import say
from console.terminal import terminal
from policies.contract.vocabulary import Kind, Severity
from policies.expressions.members import ATTRIBUTE_ROOT
from policies.kinds import About, Attribute, about, common
from policies.lint.reading import Reading, kinds_of
from policies.loader import load_text
from policies.model import Policy
from policies.similar import similar

_FREE = "what its teller brings: no name is checked"
_WHOLE = "instance, run or cluster"


def tell_kinds(written: str, shipped: Path, *, as_json: bool) -> int:
    """Print the kinds that *written* names or begins (all when it is empty); one alone whole. Return the exit status.

    AskedWronglyError when there is none, with those that look like it.
    """
    chosen = _chosen(written)
    one = chosen[0] if len(chosen) == 1 else None
    if as_json:
        rows = [about(kind).document() for kind in chosen]
        policies = {"policies": [each.name for each in _asking(one, shipped)]} if one else {}
        both = [{"name": each.name, "type": each.type, "unit": each.unit or None} for each in common()]
        print(json.dumps({"kinds": rows, "attributes_of_any": both, **policies}, ensure_ascii=False, indent=1))
    elif one:
        _whole(about(one), _asking(one, shipped))
    else:
        _list(chosen)
    return 0


def _chosen(written: str) -> Sequence[Kind]:
    if written in set(Kind):
        return [Kind(written)]
    found = [kind for kind in Kind if kind.startswith(written)]
    if not found:
        near = similar(written, [kind.value for kind in Kind], cutoff=0.5)
        hint = f"Did you mean {', '.join(near)}?" if near else "`relight policy kinds` lists all."
        raise AskedWronglyError(f"{written} is no kind of event, and none begins so.", hint=hint)
    return found


def _list(kinds: Sequence[Kind]) -> None:
    told = [about(kind) for kind in kinds]
    rows = [(each.kind.value, _span(each.severities), ", ".join(each.components) or _WHOLE) for each in told]
    out = terminal()
    print_rows(out, ("kind", "severity", "of"), rows, text="of")
    out.print(Text("Next: relight policy kinds KIND tells its attributes, and who asks for it."))


def _span(severities: Sequence[Severity]) -> str:
    """Return *severities* so short that a line goes into 80 columns."""
    follow = severities[-1].rank - severities[0].rank == len(severities) - 1
    return f"{severities[0]} to {severities[-1]}" if follow and len(severities) > 2 else ", ".join(severities)  # noqa: PLR2004 - two are named


def _whole(found: About, policies: Sequence[Policy]) -> None:
    say(f"{found.kind}: {', '.join(found.severities)}; of: {', '.join(found.components) or _WHOLE}")
    say("")
    if found.attributes is None:
        say(f"  {ATTRIBUTE_ROOT}…  {_FREE}")
    _attributes(found.attributes or ())
    say("Of any kind:")
    _attributes(common())
    say("")
    say(f"when: {condition(found)}")
    if policies:
        say("Asked for by these that come along:")
    for each in policies:
        say(f"  {each.name}: {', '.join(each.do)}")


def _attributes(attributes: Sequence[Attribute]) -> None:
    for each in sorted(attributes, key=lambda one: one.name):
        say(f"  {ATTRIBUTE_ROOT + each.name:<40} {each.type}{f', {each.unit}' if each.unit else ''}")


def condition(found: About) -> str:
    """Return how it is asked for, with one of its attributes where it has any of its own."""
    kind, first = f'event.kind == "{found.kind}"', next(iter(found.attributes or ()), None)
    if first is None:
        return kind
    number = " >= 1" if first.unit else " == 1"
    written = {"text": ' == "…"', "number": number}.get(first.type, "")
    return f"{kind} && {ATTRIBUTE_ROOT}{first.name}{written}"


def _asking(kind: Kind, shipped: Path) -> Sequence[Policy]:
    return list(_ask_for(kind, shipped))


def _ask_for(kind: Kind, shipped: Path) -> Iterator[Policy]:
    for written in read(files_of([shipped])):
        policy = load_text(written.text, try_examples=False)
        if isinstance(policy, Policy) and any(kind in (kinds_of(one) or ()) for one in Reading(policy).possible):
            yield policy

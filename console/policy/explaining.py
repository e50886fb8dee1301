"""`relight policy explain`: reads what a person named, offline or of a stack, and has it printed."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from console.asked_wrongly import AskedWronglyError
from console.policy.facts import stated
from console.policy.judges import Judges
from console.policy.screen import Wanted, print_incident, print_judged, print_node
from policies.contract.envelope import NodeIdentity
from policies.contract.errors import BadInputError
from policies.explain.explaining import World, explain
from policies.explain.reading import deliveries_in
from policies.node_state import NodeState
from policies.similar import similar

if TYPE_CHECKING:
    from console.policy.account import Account

_PLACEHOLDER = "(not given)"


@dataclass(frozen=True)
class Offline:
    """Files: the event, perhaps a node's state; ``instance_type`` is that of an event without envelope.

    So is ``driver_version``, empty where it is unknown. ``facts`` are stated as ``node.lemon_score=72``; others are
    unknown.
    """

    event: str
    state: str
    instance_type: str
    facts: Sequence[str] = ()
    driver_version: str = ""


def offline(asked: Offline, judges: Judges, wanted: Wanted) -> int:
    """Explain the event in a file as *judges* have it; BadInputError says what cannot be read."""
    _refuse_strangers(wanted.policy, [one.policy.name for one in judges.accepted])
    node = NodeIdentity(
        cluster=_PLACEHOLDER,
        name=_PLACEHOLDER,
        instance_id=_PLACEHOLDER,
        instance_type=asked.instance_type,
        driver_version=asked.driver_version,
    )
    deliveries = deliveries_in(_text(asked.event), node, datetime.now(UTC))
    state = _state(_text(asked.state).strip()) if asked.state else ""
    explained = explain(
        deliveries, state=state, world=World(judges.accepted, judges.switches, facts=stated(asked.facts))
    )
    print_judged(judges, explained, wanted)
    return 0


def of_incident(account: "Account", wanted_id: str, days: int, wanted: Wanted) -> int:
    """Explain what an incident is about."""
    from console.policy.account import explain_incident

    told = explain_incident(account, wanted_id, days)
    if told.events:
        _refuse_strangers(wanted.policy, [verdict.policy for verdict in told.events[0].verdicts])
    print_incident(told, wanted)
    return 0


def of_node(account: "Account", node: str, days: int, wanted: Wanted, *, last: bool) -> int:
    """List the incidents of a node with why each stands so, or explain the newest of them."""
    from console.policy.account import explain_node

    incidents = explain_node(account, node, days)
    if last:
        return of_incident(account, incidents[0].id, days, wanted)
    print_node(incidents, wanted)
    return 0


def _refuse_strangers(name: str, known: Sequence[str]) -> None:
    """Raise BadInputError when *name* is given and is none of *known*: nothing would be printed of it."""
    if name and name not in known:
        near = similar(name, frozenset(known), most=1)
        hint = f"Did you mean {', '.join(near)}?" if near else "`relight policy list` names them."
        raise BadInputError(f"there is no policy {name}.", hint=hint)


def _text(name: str) -> str:
    read_it: Callable[[], str] = sys.stdin.read if name == "-" else Path(name).read_text
    try:
        return read_it()
    except (OSError, UnicodeDecodeError) as error:
        told = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        wrong = AskedWronglyError if isinstance(error, FileNotFoundError) else BadInputError
        raise wrong(f"{name}: cannot be read: {told}.", hint="Name a file, or - for standard input.") from None


def _state(text: str) -> str:
    if NodeState.load(text) is None:
        raise BadInputError("the state cannot be read.", hint="It is the attribute `doc` of the item NODE#…#window.")
    return text

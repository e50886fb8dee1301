"""What a decision leaves behind for later ones: the histories of the nodes it concerned, and the faults of the hour.

Decides which of these a decision reads and brings up to date. What is kept follows from incidents and findings alone:
whoever died behind these, or lost a race, is made up for by a repeat, or by the node's next finding, which reads its
last incident. It must not decide about incidents.
"""

from collections.abc import Iterable
from datetime import datetime

from policies.contract.decisions import AnyMessage, FindingsMessage, findings_in
from policies.coordination import history, recent
from policies.coordination.snapshot import Keys
from policies.coordination.working import Working

_THE_ONE = ""  # a cluster has one document of recent faults


def past_of_findings(message: FindingsMessage) -> Keys:
    """Return what *message* will be noted in."""
    told = frozenset(each.node.instance_id for each in message.findings)
    ended = frozenset(each.generation.partition("#")[0] for each in message.cancellations)
    return Keys(histories=told | ended, recents=frozenset({_THE_ONE} if message.findings else ()))


def keep_past(work: Working, messages: Iterable[AnyMessage], now: datetime) -> None:
    """Note what became of incidents, where the history of their node was read, and what *messages* found."""
    asked = work.snapshot.histories
    for incident in work.incidents.values():
        instance = incident.node.instance_id
        if instance in asked:
            noted = history.note(work.histories.get(instance), incident, now)
            work.histories |= {instance: noted} if noted else {}
    found = [*findings_in(messages)]
    if found and _THE_ONE in work.snapshot.recents:
        noted_now = recent.note(work.recents.get(_THE_ONE), found, work.snapshot.cluster, now)
        work.recents |= {_THE_ONE: noted_now} if noted_now else {}

"""Sightings into events: adds the node's boot, the job, the time and the text.

Decides ids and messages, also of what the agent tells about itself. It must not know where a record came from or where
an event goes.
"""

from collections.abc import Callable
from datetime import datetime

from agent.coalesce import Seen
from agent.parsers.sighting import NODE
from agent.spool.limits import Loss
from policies.contract.envelope import NodeIdentity
from policies.contract.events import FaultEvent, JobRef, Scalar, cut_message
from policies.contract.identifiers import event_id
from policies.contract.vocabulary import Kind, Severity, Source

UNNUMBERED = 0  # the spool gives the seq


JobFinder = Callable[[Seen], JobRef | None]
"""What was seen -> the job that it hit, as far as the node knows."""


PodFinder = Callable[[Seen], str]
"""What was seen -> the name of the pod that it hit, empty where nobody knows."""


def no_pod(_seen: Seen) -> str:
    """Know no pod."""
    return ""


def readable(text: str) -> str:
    """Return *text* so that it can be sent: the name of a file or a mount may hold bytes that are no text (PEP 383)."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


class EventMaker:
    """Makes the events of one source of one node."""

    def __init__(self, node: NodeIdentity, source: Source, job: JobFinder, pod: PodFinder = no_pod) -> None:
        """Speak for *source* on *node*; *job* and *pod* are asked for each event."""
        self._node = node
        self._source = source
        self._job = job
        self._pod = pod

    @property
    def boot_id(self) -> str:
        """Which boot of the node the events are of."""
        return self._node.boot_id

    def event(self, seen: Seen) -> FaultEvent:
        """Return what *seen* is, with a count of 1."""
        sighting = seen.sighting
        message, cut = cut_message(seen.message)
        attributes: dict[str, Scalar] = {
            name: readable(value) if isinstance(value, str) else value for name, value in sighting.attributes.items()
        }
        if "pod" not in attributes and (pod := self._pod(seen)):
            attributes["pod"] = pod
        if cut or seen.cut:
            attributes["truncated"] = True
        return FaultEvent(
            id=event_id(
                node=self._node.instance_id, boot_id=self._node.boot_id, source=self._source, cursor=seen.cursor
            ),
            seq=UNNUMBERED,
            kind=sighting.kind,
            severity=sighting.severity,
            persistence=sighting.persistence,
            source=self._source,
            observed_at=seen.at,
            first_observed_at=seen.at,
            component=sighting.component,
            job=self._job(seen),
            attributes=attributes,
            message=message,
        )

    def gap(self, *, reason: str, key: str, at: datetime, lost: int | None) -> FaultEvent:
        """Return the event that tells that records of this source are missing, *lost* of them if anybody counted."""
        attributes: dict[str, Scalar] = {"reason": reason, "of": self._source.value}
        if lost is not None:
            attributes["lost"] = lost
        message = f"records of {self._source} are missing ({reason}): faults may have gone unseen"
        cursor = f"gap:{self._source}:{key}"
        return _about_itself(self._node, Kind.PIPELINE_GAP, cursor, at, attributes=attributes, message=message)


def loss_event(node: NodeIdentity, spool_id: str, loss: Loss, at: datetime) -> FaultEvent:
    """Return the event that tells that the spool gave events up; its count is how many."""
    kind = Kind.PIPELINE_GAP if loss.reason == "damaged" else Kind.PIPELINE_OVERFLOWED
    attributes: dict[str, Scalar] = {
        "reason": loss.reason,
        "of": "spool",
        "lost": loss.count,
        "first_seq": loss.first_seq,
        "last_seq": loss.last_seq,
    }
    message = f"the spool lost {loss.count} events ({loss.reason}), seqs {loss.first_seq} to {loss.last_seq}"
    cursor = f"loss:{spool_id}:{loss.reason}:{loss.first_seq}-{loss.last_seq}:{loss.count}"
    return _about_itself(node, kind, cursor, at, attributes=attributes, message=message)


def hung_event(node: NodeIdentity, source: str, began: float, at: datetime) -> FaultEvent:
    """Return the event that tells that *source* waits for a call, begun so many seconds after boot, for too long."""
    attributes: dict[str, Scalar] = {"reason": "hung", "of": source}
    message = f"a call of {source} does not come back: what it would see goes unseen"
    return _about_itself(
        node, Kind.PIPELINE_GAP, f"hung:{source}:{began:.6f}", at, attributes=attributes, message=message
    )


def _about_itself(
    node: NodeIdentity, kind: Kind, cursor: str, at: datetime, *, attributes: dict[str, Scalar], message: str
) -> FaultEvent:
    return FaultEvent(
        id=event_id(node=node.instance_id, boot_id=node.boot_id, source=Source.AGENT, cursor=cursor),
        seq=UNNUMBERED,
        kind=kind,
        severity=Severity.ERROR,
        source=Source.AGENT,
        observed_at=at,
        first_observed_at=at,
        component=NODE,
        attributes=attributes,
        message=message,
    )

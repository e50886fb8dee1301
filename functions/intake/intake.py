"""AWS's own events become envelopes on the faults lane, one a node and fact.

What is not ours or not known is acknowledged and counted: it never stops the consumer. A dependency that fails raises,
and the whole batch comes again: every envelope has a spool of its own, named by its fact, so a repeat is seen as one.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from functions.intake.identify import Register
from functions.intake.notice import Instance, Notice, Reservation, TrainingJob
from functions.intake.read import Reading, read
from functions.ports.faults import FaultsLane
from functions.ports.triage import Telemetry
from policies.contract.envelope import Envelope, NodeIdentity
from policies.contract.events import FaultEvent, JobRef
from policies.contract.identifiers import event_id, stable_id
from policies.contract.vocabulary import Kind, Orchestrator

TAKEN = "EventsTaken"
NOT_OURS = "EventsNotOurs"
UNKNOWN = "EventsUnknown"


def take_in(
    bodies: Sequence[str],
    *,
    register: Register,
    faults: FaultsLane,
    telemetry: Telemetry,
    clock: Callable[[], datetime],
) -> None:
    """Put what *bodies* (message bodies of the queue) say about our nodes on *faults*."""
    now = clock()
    readings = [read(body) for body in bodies]
    _tell_unknown(readings, telemetry)
    notices = [each for reading in readings for notice in reading.notices for each in _spread(notice, register)]
    nodes = register.identify([each.subject.id for each in notices if isinstance(each.subject, Instance)], now)
    pairs = [(notice, _node(notice, nodes, register)) for notice in notices]
    ours = [(notice, node) for notice, node in pairs if node]
    faults.put([envelope(notice, node, now) for notice, node in ours])
    register.let_go((node for notice, node in ours if _is_the_end(notice)), now)
    telemetry.count(TAKEN, len(ours))
    telemetry.count(NOT_OURS, len(pairs) - len(ours))


def _tell_unknown(readings: Iterable[Reading], telemetry: Telemetry) -> None:
    reasons = [reading.unknown for reading in readings if reading.unknown]
    for reason in reasons:
        telemetry.warn("An event of AWS is not known and was let go.", reason=reason)
    telemetry.count(UNKNOWN, len(reasons))


def _spread(notice: Notice, register: Register) -> Iterator[Notice]:
    """Yield a notice for each instance of a reservation; others as they are."""
    if not isinstance(notice.subject, Reservation):
        yield notice
        return
    for instance in register.ec2.in_reservation(notice.subject.id):
        yield Notice(**{**vars(notice), "subject": Instance(instance)})


def _node(notice: Notice, nodes: dict[str, NodeIdentity], register: Register) -> NodeIdentity | None:
    """Return who the notice is about. A training job has no node that outlives it: it stands for itself."""
    match notice.subject:
        case Instance(identifier):
            return nodes.get(identifier)
        case TrainingJob(name, cluster) if cluster in register.clusters:
            return NodeIdentity(cluster=cluster, name=name, instance_id=f"training-job/{name}")
    return None


def _is_the_end(notice: Notice) -> bool:
    return notice.kind is Kind.INSTANCE_STATE_CHANGED and notice.attributes.get("state") == "terminated"


def envelope(notice: Notice, node: NodeIdentity, now: datetime) -> Envelope:
    """Return *notice* as an envelope of *node*: a spool of one event, named by the fact."""
    event = FaultEvent(
        id=event_id(node=node.instance_id, boot_id="", source=notice.source, cursor=notice.key),
        seq=0,
        kind=notice.kind,
        severity=notice.severity,
        persistence=notice.persistence,
        source=notice.source,
        observed_at=notice.observed_at,
        first_observed_at=notice.observed_at,
        job=_job(notice),
        attributes=dict(notice.attributes),
        message=notice.message,
    )
    spool = stable_id("intake", node.instance_id, notice.key)
    return Envelope(node=node, spool_id=f"intake:{spool}", first_seq=0, sent_at=now, events=(event,))


def _job(notice: Notice) -> JobRef | None:
    if isinstance(notice.subject, TrainingJob):
        return JobRef(id=notice.subject.name, orchestrator=Orchestrator.SAGEMAKER)
    return None

"""Carries a rung out once per incident, rung and fence, whatever repeats or crashes in between.

Decides whether an act may run (the lease's fence, the incident's status), keeps its intention before and its report
after. It must not know what an act does.
"""

from collections.abc import Callable, Mapping
from datetime import datetime

from functions.acts.act import Act, ActContext
from functions.ports.acts import ActRecord, ActStore, LeaseReader
from functions.settings import ClusterSettings
from policies.contract.decisions import RungReport, RungRequest
from policies.contract.errors import BadInputError, FencedError
from policies.contract.rungs import Rung, RungStatus
from policies.coordination.incident import Incident
from policies.coordination.leases import Lease

SHORTEST_WAIT_SECONDS = 1.0
# Nine rungs' outcomes share one META item of at most 400 KB with notes and timeline, and one event of at most 256 KB.
REPORT_LIMIT_BYTES = 16 * 1024
LONGEST_WAIT_SECONDS = 60.0  # a Wait of handle-incident never sleeps past the point where the sweep calls it stale


def carry_out(
    request: RungRequest,
    *,
    acts: Mapping[Rung, Act],
    incidents: ActStore,
    leases: LeaseReader,
    clusters: Mapping[str, ClusterSettings],
    clock: Callable[[], datetime],
) -> RungReport:
    """Return how far *request*'s rung is; a request that lost its lease is reported as failed with reason ``fenced``.

    DependencyError and BadInputError pass through: handle-incident retries, then coordinate decides.
    """
    now = clock()
    act = _choose(request, acts)
    incident = _load(request, incidents)
    try:
        _check_fence(request, incident, leases.load_lease(incident.cluster, incident.generation), now)
        record = _intend(request, incident, incidents, now)
    except FencedError as error:
        return RungReport(rung=request.rung, status=RungStatus.FAILED, at=now, reason=f"fenced: {error.message}")
    if record.report and record.report.status is RungStatus.DONE:
        return record.report
    report = _bounded(act.advance(_context(request, incident, clusters, record, now)))
    incidents.report(record, report, now)
    return report


def _load(request: RungRequest, incidents: ActStore) -> Incident:
    incident = incidents.load_incident(request.incident)
    if incident is None or incident.cluster != request.cluster:
        raise BadInputError(
            f"no incident {request.incident} in cluster {request.cluster}.",
            hint="Only handle-incident may invoke executors; check who did.",
        )
    return incident


def _check_fence(request: RungRequest, incident: Incident, lease: Lease | None, now: datetime) -> None:
    """Raise FencedError unless this very attempt of this incident still holds the node."""
    if not incident.status.is_running:
        raise FencedError(f"the incident is {incident.status}.")
    if incident.attempt != request.attempt:
        raise FencedError(f"attempt {incident.attempt} took over from attempt {request.attempt}.")
    if lease is None or not lease.held_by(request.incident, request.fence, now):
        raise FencedError(f"the lease of {incident.generation} is no longer held under fence {request.fence}.")


def _choose(request: RungRequest, acts: Mapping[Rung, Act]) -> Act:
    try:
        return acts[request.rung]
    except KeyError:
        raise BadInputError(
            f"this executor does not carry out {request.rung}.",
            hint="Coordinate's plan and the wiring differ: redeploy.",
        ) from None


def _intend(request: RungRequest, incident: Incident, incidents: ActStore, now: datetime) -> ActRecord:
    """Return the record under which the act runs: the first intention of this rung and turn dates it.

    A record of the same turn that is done, whichever attempt did it, is returned as it is: its effect stands. One that
    was under way hands its progress to the next attempt.
    """
    same_turn = [act for act in incidents.load_acts(request.incident, request.rung) if act.turn == incident.turn]
    done = [act for act in same_turn if act.report and act.report.status is RungStatus.DONE]
    if done:
        return done[0]
    mine = ActRecord(
        incident=request.incident,
        rung=request.rung,
        attempt=request.attempt,
        turn=incident.turn,
        fence=request.fence,
        intended_at=min((act.intended_at for act in same_turn), default=now),
        report=next((act.report for act in reversed(same_turn) if _is_under_way(act)), None),
    )
    stands = incidents.intend(mine)
    if stands.fence != request.fence:
        raise FencedError(f"{request.rung} is being carried out under fence {stands.fence}.")
    return stands


def _is_under_way(act: ActRecord) -> bool:
    return act.report is not None and act.report.status is RungStatus.WAITING


def _bounded(report: RungReport) -> RungReport:
    """Return the report with a wait that handle-incident keeps; BadInputError when it is too large to travel."""
    if len(report.to_json()) > REPORT_LIMIT_BYTES:
        raise BadInputError(f"the report of {report.rung} is too large.", hint="The act is to keep it in S3 instead.")
    if report.status is not RungStatus.WAITING:
        return report
    seconds = min(max(report.wait_seconds, SHORTEST_WAIT_SECONDS), LONGEST_WAIT_SECONDS)
    return report.model_copy(update={"wait_seconds": seconds})


def _context(
    request: RungRequest,
    incident: Incident,
    clusters: Mapping[str, ClusterSettings],
    record: ActRecord,
    now: datetime,
) -> ActContext:
    if incident.cluster not in clusters:
        raise BadInputError(
            f"cluster {incident.cluster} is not in CLUSTERS.", hint="Add it to the settings and deploy."
        )
    return ActContext(
        rung=request.rung,
        incident=incident.id,
        cluster=clusters[incident.cluster],
        node=incident.node,
        generation=incident.generation,
        job=incident.job,
        facts=incident.facts,
        progress=record.report.outcome if record.report else {},
        plan=incident.policy,
        fence=request.fence,
        attempt=request.attempt,
        polls=request.polls,
        now=now,
        intended_at=record.intended_at,
        opened_at=incident.opened_at,
        deadline=incident.deadline,
        messages=incident.messages,
        findings=incident.findings,
    )

"""What becomes of a finding: a new incident, one more note of an open one, or a decision that is only recorded.

It must not start acting: what an incident does is decided when its execution asks.
"""

from datetime import datetime

from policies.contract.decisions import Finding, FindingsMessage
from policies.contract.errors import BadInputError
from policies.contract.rungs import Rung
from policies.contract.times import add_seconds
from policies.coordination.about_runs import generation_of_run, is_about_the_run, who_has_the_run
from policies.coordination.blaming import blame, renew
from policies.coordination.contributing import Heard, generations_of, hear
from policies.coordination.denying import is_unasked
from policies.coordination.endings import take_from
from policies.coordination.incident import Incident, incident_id
from policies.coordination.joining import join
from policies.coordination.leases import Lease
from policies.coordination.opening import lay_out_finding, open_or_record, why_held, why_nobody_acts
from policies.coordination.repeats import has_counted, last_told
from policies.coordination.rules import Rules
from policies.coordination.sparing import takes_over
from policies.coordination.storms import tells_of_a_storm
from policies.coordination.working import Working

DYING_SECONDS = 3600.0  # an instance that ends prints for minutes, large ones for many; its lease outlives that by days


def take_findings(work: Working, message: FindingsMessage, rules: Rules, now: datetime) -> None:
    """Take every finding of *message*; BadInputError when one is of another cluster, or the cluster is unknown."""
    for finding in message.findings:
        if finding.node.cluster != message.cluster:
            raise BadInputError(f"finding {finding.id} is of cluster {finding.node.cluster!r}.", hint="Check triage.")
        _take(work, finding, rules, now)


def take_contributions(work: Working, message: FindingsMessage, rules: Rules, now: datetime) -> None:
    """Count what *message* contributes and take the findings that this makes; BadInputError as above."""
    for heard in hear(work.windows, message.contributions, message.cluster, now):
        work.windows[heard.counted.window.key] = heard.counted.window
        for finding, found in zip(heard.findings, heard.counted.found, strict=True):
            _take(work, finding, rules, now)
            blame(work, finding, heard.counted.window.rule, found.value)
        renew(work, heard.group)
        if heard.counted.repeated and not heard.findings:
            _finish_found(work, heard)


def _finish_found(work: Working, heard: Heard) -> None:
    """A repeat of what is counted: whoever died before its message was done may have left its incident half-way."""
    jobs = {generation_of_run(entry.job) for entry in heard.group.entries if entry.job}
    for lease in filter(None, map(work.leases.get, (*sorted(generations_of(heard.group)), *sorted(jobs)))):
        holder = work.incidents.get(last_told(lease) or lease.incident)
        if holder and holder.policy.name == heard.group.rule.plan.name:
            _finish(work, holder)


def _take(work: Working, finding: Finding, rules: Rules, now: datetime) -> None:
    if finding.job and is_about_the_run(finding, lay_out_finding(finding, rules), rules):
        lease = work.leases.get(finding.generation)
        holder = work.incidents.get(lease.incident) if lease and not lease.released else None
        on_node = holder if holder and holder.status.is_open else None
        finding = finding.model_copy(update={"generation": generation_of_run(finding.job)})
        _take_one(work, finding, rules, now, elsewhere=on_node or who_has_the_run(work, finding))
    else:
        _take_one(work, finding, rules, now)


def _take_one(work: Working, finding: Finding, rules: Rules, now: datetime, elsewhere: Incident | None = None) -> None:
    """Take *finding* by the lease of its generation; *elsewhere* is an incident that it may belong to besides."""
    lease = work.leases.get(finding.generation)
    holder = work.incidents.get(lease.incident) if lease else None
    known = work.incidents.get(incident_id(finding.generation, finding.id))
    known = known or next((each for each in (holder, elsewhere) if each and each.knows(finding.id)), None)
    known = known or has_counted(work, finding)
    is_open = bool(lease and not lease.released and holder and holder.status.is_open)
    if known:
        _finish(work, known)
    elif lease and holder and is_open and _gives_way(work, holder, finding, rules, now):
        take_from(work, lease, holder, now)
        open_or_record(work, finding, rules, now)
    elif holder and is_open:
        _join(work, holder, finding, rules, now)
    elif elsewhere:
        _join(work, elsewhere, finding, rules, now)
    elif lease and holder and _is_history(lease, finding):
        _join(work, holder, finding, rules, now)
    else:
        late = finding.late or bool(lease and _is_history(lease, finding))
        open_or_record(work, finding.model_copy(update={"late": late}), rules, now)


def _join(work: Working, holder: Incident, finding: Finding, rules: Rules, now: datetime) -> None:
    layout = lay_out_finding(finding, rules)
    held = why_held(work, finding, layout, now)
    acts = holder.status.is_open and not why_nobody_acts(finding, layout, held, now)
    joined = join(holder, finding, layout.rungs if acts else (), rules, now)
    if joined == holder:
        _finish(work, holder)
    else:
        work.incidents[holder.id] = joined


def _gives_way(work: Working, holder: Incident, finding: Finding, rules: Rules, now: datetime) -> bool:
    """Whether *holder*, which waits since nothing would replace its node, leaves the node to a fault that ended it."""
    layout = lay_out_finding(finding, rules)
    gives_up = any(each.rung is Rung.REPLACE_NODE for each in layout.rungs)
    if not gives_up or not takes_over(finding, holder):
        return False
    return not why_nobody_acts(finding, layout, why_held(work, finding, layout, now), now)


def _is_history(lease: Lease, finding: Finding) -> bool:
    """Whether the finding speaks of a node that was given up, or of the time before it recovered.

    A node that was given up and still speaks long after lives on, stopped and started again by a person perhaps.
    """
    if lease.released_at is None or tells_of_a_storm(lease) or is_unasked(lease, finding):
        return False
    ends = add_seconds(lease.released_at, DYING_SECONDS if lease.outcome == "replaced" else 0.0)
    return finding.observed_at <= ends


def _finish(work: Working, incident: Incident) -> None:
    """A repeat: do again what a crash may have left undone, which is the start and the timeline's last lines."""
    work.retold[incident.id] = incident
    if incident.status.is_running and incident.started < incident.attempt:
        work.start(incident)

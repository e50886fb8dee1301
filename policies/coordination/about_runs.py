"""Findings about a run alone: nothing is done to a node, so all nodes' findings of one run are one incident.

A hang, or a rank killed for want of memory, shows on every node of the job, and each node is mostly the victim. Such an
incident has a lease on the run instead of one on a node: faults of the nodes keep their own. Where an incident has the
run stopped already, for a node say, the finding is one more note of it. It must not open or change incidents.
"""

from policies.contract.decisions import Finding
from policies.contract.events import JobRef
from policies.contract.rungs import Rung
from policies.contract.vocabulary import Orchestrator
from policies.coordination.holds import Job
from policies.coordination.incident import Incident
from policies.coordination.plan import RESUME_RUNGS, Layout
from policies.coordination.rules import Rules
from policies.coordination.runs import run_of
from policies.coordination.working import Working

_OF_A_RUN = RESUME_RUNGS | {Rung.COLLECT_EVIDENCE, Rung.SUSPEND_JOB, Rung.PAGE_OPERATOR}
_PREFIX = "run#"
# A SageMaker training job is a node and a run in one: its incident has that lease already.
_GANGS = frozenset({Orchestrator.EKS})


def generation_of_run(job: JobRef) -> str:
    """Return the name under which a run is leased, beside the generations of nodes."""
    return f"{_PREFIX}{run_of(job)}"


def is_about_the_run(finding: Finding, layout: Layout, rules: Rules) -> bool:
    """Whether all that *finding* wants is done to its run."""
    if finding.job is None or rules.orchestrator_of(finding.node.cluster, finding.job) not in _GANGS:
        return False
    rungs = {each.rung for each in layout.rungs}
    return Rung.SUSPEND_JOB in rungs and rungs <= _OF_A_RUN


def is_of_a_run(generation: str) -> bool:
    """Whether that is the lease of a run."""
    return generation.startswith(_PREFIX)


def has_only_the_run(incident: Incident) -> bool:
    """Whether *incident* was opened for a run alone."""
    return is_of_a_run(incident.generation)


def to_read(job: Job) -> frozenset[str]:
    """Return the incidents that *job*'s document names, which a finding about the run may belong to."""
    return frozenset(filter(None, (*job.holds, job.resumer, job.resumed_by)))


def who_has_the_run(work: Working, finding: Finding) -> Incident | None:
    """Return the incident that *finding*, about a run alone, is one more note of: who stops the run or resumes it.

    What was seen before the last resume is history of the run that was stopped then, and of who resumed it.
    """
    job = work.jobs.get(finding.job.id) if finding.job else None
    if job is None:
        return None
    stopping = (work.incidents.get(name) for name in (*job.holds, job.resumer) if name)
    found = next((each for each in stopping if each and each.status.is_open), None)
    if found:
        return found
    last = work.incidents.get(job.resumed_by) if job.resumed_by else None
    if last and (last.status.is_running or (job.resumed_at and finding.observed_at <= job.resumed_at)):
        return last
    return None

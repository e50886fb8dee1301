"""What a decision is about, as a lease tells it from others beside its own generation: a fault, a part and a run.

Decides what two findings, or a finding and an incident's note of one, have in common where they are about the same;
whoever asks adds whose policy it is. It must not know what a lease keeps of it.
"""

from policies.contract.decisions import Finding
from policies.contract.identifiers import stable_id
from policies.coordination.about_runs import is_of_a_run
from policies.coordination.incident import Incident
from policies.coordination.notes import FindingNote
from policies.facts.faults import fault_of

About = tuple[str, str, str]
_LETTERS = 16  # of a digest: a lease tells a few dozen apart


def digest(*parts: object) -> str:
    """Return what a lease keeps instead of *parts*."""
    return stable_id(*parts)[:_LETTERS]


def about_finding(finding: Finding, generation: str) -> About:
    """Return fault, part and run of *finding* where the lease of *generation* keeps them."""
    part = finding.component.key if finding.component else ""
    run = finding.job.id if finding.job else ""
    return fault_of(finding.kind, finding.attributes), _part(part, generation), run


def about_note(note: FindingNote, incident: Incident) -> About:
    """Return the same of a *note* of *incident*; one of before does not tell its run, and has that of the incident."""
    run = note.job if note.job is not None else incident.job.id if incident.job else ""
    return fault_of(note.kind, note.attributes), _part(note.component, incident.generation), run


def _part(part: str, generation: str) -> str:
    """Return *part*; of a run those of many nodes tell, and it is one fault."""
    return "" if is_of_a_run(generation) else part

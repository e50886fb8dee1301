"""Which run a job belongs to: one run, whatever its successors are called.

A SageMaker training job cannot run twice, so each resume has a name of its own (``run``, ``run-r01``, ``run-r02``); on
Kubernetes a job keeps its name. It must not know what a successor carries over (`functions/sagemaker/lineage.py` does).
"""

import re

from policies.contract.events import JobRef
from policies.contract.vocabulary import Orchestrator

LONGEST_NAME = 63  # CreateTrainingJob, TrainingJobName
SUFFIX_LENGTH = 4
NUMBERED = re.compile(r"^(?P<base>.+)-r(?P<number>\d{2})$")


def run_of(job: JobRef) -> str:
    """Return the name that a job shares with its predecessors and successors."""
    if job.orchestrator is not Orchestrator.SAGEMAKER:
        return job.id
    found = NUMBERED.match(job.id)
    return shortened(found["base"] if found else job.id)


def shortened(base: str) -> str:
    """Return *base* with room for a number behind it."""
    return base[: LONGEST_NAME - SUFFIX_LENGTH].rstrip("-")

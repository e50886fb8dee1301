"""What coordinate's decisions are measured by: clusters, time scale, and every threshold with its reason.

The one place where time scale applies: settle and the patience of the sweep shrink with it, deadlines and budgets do
not, since work done by machines does not get faster. It must not know an incident.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from policies.contract.errors import BadInputError
from policies.contract.events import JobRef
from policies.contract.vocabulary import EvidenceRule, Orchestrator

# One poll of a rung writes 13 history events, and a burst of 20 with its ask 276. 50 asks are then at most 13,800:
# under the 15,000 at which an execution is handed over, with room for retries until the 25,000 at which it is ended.
MOST_STEPS = 50
MOST_ATTEMPTS = 5
MOST_FALTERS = 3  # handle-incident has retried with back-off before each of these
FALTER_WAIT_SECONDS = 30.0
RESUMER_WAIT_SECONDS = 5.0  # how often a new hold looks whether the resume under way has been let go
LONGEST_WAIT_SECONDS = 300.0  # no wait outlasts this without asking again
PATIENCE_SECONDS = 60.0  # an execution that was never heard of is looked up after this; the ask takes seconds
SILENCE_SECONDS = 180.0  # an execution that was heard of before is looked up after this
MOST_LOOKUPS = 50  # executions described in one sweep, the longest silent first

# After this age a finding only informs. A latched fault holds until reset or boot, so that its age says little; a
# transient one may be over.
STALE_SECONDS: Mapping[EvidenceRule, float] = {
    EvidenceRule.TRANSIENT: 300.0,
    EvidenceRule.PROBE: 900.0,
    EvidenceRule.LATCHED: 3600.0,
}


@dataclass(frozen=True)
class Rules:
    """``time_scale`` is how many real seconds one second of a policy's wait lasts."""

    orchestrators: Mapping[str, Orchestrator]
    time_scale: float = 1.0

    def orchestrator_of(self, cluster: str, job: JobRef | None) -> Orchestrator:
        """Return who runs *job*, else who runs the cluster; BadInputError when the cluster is unknown."""
        if cluster not in self.orchestrators:
            raise BadInputError(f"cluster {cluster!r} is unknown.", hint="Add it to the settings and deploy.")
        return (job.orchestrator if job else None) or self.orchestrators[cluster]

    def real(self, seconds: float) -> float:
        """Return how long a policy's *seconds* last by the clock."""
        return seconds * self.time_scale

    def nominal(self, real_seconds: float) -> float:
        """Return the wait to tell handle-incident so that *real_seconds* pass: its waits are scaled where it runs."""
        return min(max(real_seconds / self.time_scale, 1.0), LONGEST_WAIT_SECONDS)

"""What coordinate is told by its environment."""

from collections.abc import Mapping
from dataclasses import dataclass

from functions.settings import read_clusters, read_text, read_time_scale
from policies.contract.vocabulary import Orchestrator
from policies.coordination.rules import Rules


@dataclass(frozen=True)
class Settings:
    """The three tables, the state machine, where refused messages go, and the rules that follow from the clusters."""

    fleet_table: str
    incidents_table: str
    policies_table: str
    state_machine_arn: str
    decisions_dlq_url: str
    rules: Rules

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "Settings":
        """Return the settings in *environ*; SettingsError names the variable that is missing or wrong."""
        clusters = read_clusters(environ)
        orchestrators = {name: Orchestrator(cluster.orchestrator) for name, cluster in clusters.items()}
        return cls(
            fleet_table=read_text(environ, "FLEET_TABLE"),
            incidents_table=read_text(environ, "INCIDENTS_TABLE"),
            policies_table=read_text(environ, "POLICIES_TABLE"),
            state_machine_arn=read_text(environ, "STATE_MACHINE_ARN"),
            decisions_dlq_url=read_text(environ, "DECISIONS_DLQ_URL"),
            rules=Rules(orchestrators, read_time_scale(environ)),
        )

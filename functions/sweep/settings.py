"""What the sweep is told by its environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from functions.settings import ClusterSettings, read_clusters, read_number, read_text, read_time_scale
from functions.sweep.silence import CANARY_FRESH, LEAST_SILENT_AFTER, Patience
from policies.contract.errors import SettingsError

# A machine's processes are not late in proportion to how fast its waits run.
_LEAST_REAL = timedelta(seconds=15)


@dataclass(frozen=True)
class Settings:
    """Clusters, where the two kinds of message go, the table of signs, and how long silence is borne."""

    clusters: tuple[ClusterSettings, ...]
    decisions_queue_url: str
    faults_stream: str
    fleet_table: str
    patience: Patience

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "Settings":
        """Return the settings in *environ*; SettingsError names the variable that is missing or wrong."""
        return cls(
            clusters=tuple(read_clusters(environ).values()),
            decisions_queue_url=read_text(environ, "DECISIONS_QUEUE_URL"),
            faults_stream=read_text(environ, "FAULTS_STREAM"),
            fleet_table=read_text(environ, "FLEET_TABLE"),
            patience=_patience(environ),
        )


def _patience(environ: Mapping[str, str]) -> Patience:
    silent = timedelta(seconds=read_number(environ, "SILENT_AFTER_SECONDS"))
    if silent < LEAST_SILENT_AFTER:
        raise SettingsError(
            f"SILENT_AFTER_SECONDS is {silent.total_seconds():g}, and a healthy node's sign may be 90 s old.",
            hint=f"Give at least {LEAST_SILENT_AFTER.total_seconds():g}.",
        )
    scale = read_time_scale(environ)
    return Patience(max(silent * scale, min(silent, _LEAST_REAL)), max(CANARY_FRESH * scale, _LEAST_REAL))

"""What intake is told by its environment."""

from collections.abc import Mapping
from dataclasses import dataclass

from functions.settings import ClusterSettings, read_clusters, read_text


@dataclass(frozen=True)
class Settings:
    """Clusters by name, the stream to put on, the table that knows nodes."""

    clusters: Mapping[str, ClusterSettings]
    faults_stream: str
    fleet_table: str

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "Settings":
        """Return the settings in *environ*; SettingsError names the variable that is missing or wrong."""
        return cls(
            clusters=read_clusters(environ),
            faults_stream=read_text(environ, "FAULTS_STREAM"),
            fleet_table=read_text(environ, "FLEET_TABLE"),
        )

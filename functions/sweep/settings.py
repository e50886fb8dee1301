"""What the sweep is told by its environment."""

from collections.abc import Mapping
from dataclasses import dataclass

from functions.settings import read_clusters, read_text


@dataclass(frozen=True)
class Settings:
    """Cluster names, and where the two kinds of message go."""

    clusters: tuple[str, ...]
    decisions_queue_url: str
    faults_stream: str

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "Settings":
        """Return the settings in *environ*; SettingsError names the variable that is missing or wrong."""
        return cls(
            clusters=tuple(read_clusters(environ)),
            decisions_queue_url=read_text(environ, "DECISIONS_QUEUE_URL"),
            faults_stream=read_text(environ, "FAULTS_STREAM"),
        )

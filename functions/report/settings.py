"""What the report is told by its environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from functions.settings import read_clusters, read_text


@dataclass(frozen=True)
class Settings:
    """The clusters' names, the table of incidents (and notices), and the policies'."""

    clusters: tuple[str, ...]
    incidents_table: str
    policies_table: str

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Return the settings in *environ*; SettingsError names the variable that is missing or wrong."""
        return cls(
            clusters=tuple(read_clusters(environ)),
            incidents_table=read_text(environ, "INCIDENTS_TABLE"),
            policies_table=read_text(environ, "POLICIES_TABLE"),
        )

"""What the archive reads from its environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from functions.settings import read_text


@dataclass(frozen=True)
class Settings:
    """Where it writes, and where places of nodes are."""

    archive_bucket: str
    fleet_table: str

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Return the settings in *environ*; SettingsError names what is missing."""
        return cls(archive_bucket=read_text(environ, "ARCHIVE_BUCKET"), fleet_table=read_text(environ, "FLEET_TABLE"))

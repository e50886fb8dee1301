"""What the outbox is told by its environment."""

from collections.abc import Mapping
from dataclasses import dataclass

from functions.settings import read_text


@dataclass(frozen=True)
class Settings:
    """The bus to tell."""

    bus_name: str

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "Settings":
        """Return the settings in *environ*; SettingsError names the variable that is missing or wrong."""
        return cls(bus_name=read_text(environ, "BUS_NAME"))

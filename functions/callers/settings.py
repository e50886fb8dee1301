"""What the function that notes callers reads from its environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from functions.settings import read_text


@dataclass(frozen=True)
class Settings:
    """The table of policies, the one whose stream tells people, and the roles of ours that write policies."""

    policies_table: str
    incidents_table: str
    own_roles: tuple[str, ...]

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Return the settings in *environ*; SettingsError names what is missing."""
        return cls(
            policies_table=read_text(environ, "POLICIES_TABLE"),
            incidents_table=read_text(environ, "INCIDENTS_TABLE"),
            own_roles=tuple(read_text(environ, "OWN_ROLES").split()),
        )

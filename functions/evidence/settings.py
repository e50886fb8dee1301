"""What the evidence executor is told by its environment."""

from collections.abc import Mapping
from dataclasses import dataclass

from functions.nodes.settings import Settings as NodesSettings
from functions.settings import read_text


@dataclass(frozen=True)
class Settings(NodesSettings):
    """What whoever asks nodes is told, and where evidence is kept."""

    evidence_bucket: str

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "Settings":
        """Return the settings in *environ*; SettingsError names the variable that is missing or wrong."""
        common = NodesSettings.from_environment(environ)
        return cls(**vars(common), evidence_bucket=read_text(environ, "EVIDENCE_BUCKET"))

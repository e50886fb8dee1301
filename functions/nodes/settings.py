"""What the nodes executor is told by its environment."""

from collections.abc import Mapping
from dataclasses import dataclass

from functions.acts.executor import ExecutorSettings
from functions.settings import read_text


@dataclass(frozen=True)
class Settings(ExecutorSettings):
    """What all executors are told, the table of commands, and what every instance's ARN begins with here."""

    commands_table: str
    instance_arns: str

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "Settings":
        """Return the settings in *environ*; SettingsError names the variable that is missing or wrong."""
        common = ExecutorSettings.from_environment(environ)
        return cls(
            **vars(common),
            commands_table=read_text(environ, "COMMANDS_TABLE"),
            instance_arns=read_text(environ, "INSTANCE_ARNS"),
        )

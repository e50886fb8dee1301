"""What triage reads from its environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Self

from functions.settings import read_number, read_text, read_time_scale
from functions.triage.seen import INTERVAL


@dataclass(frozen=True)
class Settings:
    """Names and addresses of what triage works with."""

    fleet_table: str
    policies_table: str
    decisions_queue_url: str
    rejects_bucket: str
    rejects_kept: timedelta
    archive_bucket: str
    seen_interval: timedelta = INTERVAL

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> Self:
        """Return the settings in *environ*; SettingsError names what is missing."""
        return cls(
            fleet_table=read_text(environ, "FLEET_TABLE"),
            policies_table=read_text(environ, "POLICIES_TABLE"),
            decisions_queue_url=read_text(environ, "DECISIONS_QUEUE_URL"),
            rejects_bucket=read_text(environ, "REJECTS_BUCKET"),
            rejects_kept=timedelta(days=read_number(environ, "REJECTS_DAYS")),
            archive_bucket=read_text(environ, "ARCHIVE_BUCKET"),
            seen_interval=INTERVAL * read_time_scale(environ),
        )

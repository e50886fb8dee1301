"""What an operator can set of the sources in this folder. It must not know what a setting is used for elsewhere."""

from pydantic import BaseModel


class JobSettings(BaseModel):
    """Settings of the processes that train: heartbeats, exits, hangs, cgroups, container runtime."""

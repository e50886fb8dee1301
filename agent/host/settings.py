"""What an operator can set of the sources in this folder. It must not know what a setting is used for elsewhere."""

from pydantic import BaseModel


class HostSettings(BaseModel):
    """Settings of the machine: memory, clock, disks, mounts, notices of AWS."""

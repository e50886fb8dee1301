"""What an operator can set of the sources in this folder. It must not know what a setting is used for elsewhere."""

from typing import Annotated

from pydantic import BaseModel, Field


class HostSettings(BaseModel):
    """Settings of the machine: memory, clock, disks, mounts, notices of EC2."""

    host_checks: Annotated[
        bool, Field(description="Whether the machine's memory, clock, disks, mounts and EC2's notices are looked at.")
    ] = True

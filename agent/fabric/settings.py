"""What an operator can set of the sources in this folder. It must not know what a setting is used for elsewhere."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field


class FabricSettings(BaseModel):
    """Settings of the network between GPUs: InfiniBand and RoCE, EFA, IMEX."""

    efa_devices: Annotated[
        int, Field(ge=0, le=128, description="How many EFA devices there must be; 0: those attached or seen before.")
    ] = 0
    infiniband_ports_expected: Annotated[
        int,
        Field(ge=0, le=256, description="How many InfiniBand or RoCE ports must be up; 0: those that were up before."),
    ] = 0
    imex_ctl: Annotated[str, Field(description="NVIDIA's program that is asked for the state of IMEX.")] = (
        "nvidia-imex-ctl"
    )
    imex_config: Annotated[
        Path, Field(description="Configuration of IMEX; it says which file names the nodes of the domain.")
    ] = Path("/etc/nvidia-imex/config.cfg")

"""What an operator can set of the sources in this folder. It must not know what a setting is used for elsewhere."""

from pydantic import BaseModel


class FabricSettings(BaseModel):
    """Settings of the network between GPUs: InfiniBand and RoCE, EFA, IMEX."""

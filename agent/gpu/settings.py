"""What an operator can set of the sources in this folder. It must not know what a setting is used for elsewhere."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field


class GpuSettings(BaseModel):
    """Settings of the GPUs: NVML, DCGM."""

    nvml: Annotated[
        Literal["auto", "off"], Field(description="Whether GPUs are measured through NVIDIA's driver, where it is.")
    ] = "auto"
    nvml_library: Annotated[
        str, Field(description="Path of libnvidia-ml.so.1; empty: where the loader finds it.", max_length=4096)
    ] = ""
    nvml_poll_seconds: Annotated[float, Field(ge=0.5, le=60, description="How often the GPUs are looked at.")] = 1.0
    dcgm: Annotated[
        Literal["auto", "off"], Field(description="Whether DCGM's health watches are read, where it runs.")
    ] = "auto"

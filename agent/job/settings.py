"""What an operator can set of the sources in this folder. It must not know what a setting is used for elsewhere."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field


class JobSettings(BaseModel):
    """Settings of the processes that train: heartbeats, exits, hangs, cgroups, container runtime."""

    beats: Annotated[Path, Field(description="Folder in which training processes beat (RELIGHT_BEATS there).")] = Path(
        "/run/relight/beats"
    )
    hang_after_seconds: Annotated[
        float, Field(ge=0.5, description="So long without a beat, at least, before training is said to stand still.")
    ] = 120
    slow_phase_seconds: Annotated[
        float,
        Field(ge=0.5, description="The same for start, compile, save, evaluation and load, and until it learned."),
    ] = 1800
    checkpoint_overdue_seconds: Annotated[
        float,
        Field(ge=0, description="So long without a whole save is too long, whatever is usual; 0: only what is usual."),
    ] = 0
    container_runtime_socket: Annotated[
        str, Field(description="Unix socket at which containerd or cri-o serves; empty: it is not watched.")
    ] = "/run/containerd/containerd.sock"
    kubelet_health: Annotated[
        str, Field(pattern=r"^(http://.*)?$", description="Where the kubelet tells its health; empty: it is not asked.")
    ] = "http://127.0.0.1:10248/healthz"

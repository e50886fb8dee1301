"""What an operator can set of the status endpoint. It must not know what a setting is used for elsewhere."""

from typing import Annotated

from pydantic import BaseModel, Field


class StatusSettings(BaseModel):
    """Settings of what the agent tells about itself on the node."""

    status_socket: Annotated[
        str, Field(max_length=100, description="Unix socket of the status endpoint, mode 0660; empty: none.")
    ] = "/run/relight/agent.sock"
    metrics_listen: Annotated[
        str,
        Field(
            pattern=r"^$|^[0-9A-Za-z.:\[\]-]{1,255}:[0-9]{1,5}$",
            description="Address for /metrics and /healthz over TCP, for example 127.0.0.1:9464; empty: none.",
        ),
    ] = ""

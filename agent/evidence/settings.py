"""What an operator can set of the evidence. It must not know what a setting is used for elsewhere."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field


class EvidenceSettings(BaseModel):
    """Settings of what is kept after a fault."""

    evidence_bucket: Annotated[
        str, Field(description="S3 bucket that evidence goes to; empty: it stays on this node.")
    ] = ""
    evidence_dir: Annotated[
        Path | None, Field(description="Folder for evidence; a local disk. Unset: `evidence` beside the spool.")
    ] = None
    evidence_dir_max_bytes: Annotated[
        int, Field(ge=1 << 20, description="How much that folder may take; the oldest collections go first.")
    ] = 512 << 20
    evidence_bytes: Annotated[int, Field(ge=64 << 10, description="How much one collection may take.")] = 64 << 20
    evidence_seconds: Annotated[float, Field(ge=1, le=600, description="How long one collection may take.")] = 60
    evidence_per_hour: Annotated[
        int, Field(ge=0, le=60, description="How many collections an hour a fault may begin by itself; 0: none.")
    ] = 4

"""A fault event: what a source saw, once, or how many more times since it last said so.

It must not know the node it comes from (the envelope does) or what will be done about it.
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints

from policies.contract.base import LARGEST_NUMBER, Model
from policies.contract.times import Moment
from policies.contract.vocabulary import ComponentType, Kind, Orchestrator, Persistence, Severity, Source

MESSAGE_LIMIT_BYTES = 2048
LONGEST_JOB_ID = 512  # a namespace, a slash and a name on Kubernetes are at most 317; it is part of keys
LONGEST_WORD = 64  # of an attribute that is shown beside many others
LONGEST_ADDRESS = 2048  # an S3 key has at most 1,024 bytes, a bucket's name 63
Scalar = str | int | float | bool
Pci = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}$")]


class Component(Model):
    """The part that is at fault. ``pci`` is ``dddd:bb:dd``, lower case, without the function."""

    type: ComponentType
    index: int | None = None
    uuid: str | None = None
    pci: Pci | None = None
    serial: str | None = None
    link: int | None = None

    @property
    def key(self) -> str:
        """Return a short text that tells this component from the others of its node."""
        parts = (self.pci, self.uuid, self.serial, self.index, self.link)
        return ":".join([self.type, *(str(part) for part in parts if part is not None)])


def _size(told: object) -> int | None:
    """Return *told* if it is one: what a mistyped size would cost is an event, and it is a remark beside that."""
    if isinstance(told, int) and not isinstance(told, bool) and 1 <= told <= LARGEST_NUMBER:
        return told
    return None


class JobRef(Model):
    """The training job that was hit, as far as the node knows. ``id`` is ``namespace/name`` on Kubernetes.

    ``world_size`` is how many ranks it has in all.
    """

    id: Annotated[str, Field(max_length=LONGEST_JOB_ID)]
    orchestrator: Orchestrator | None = None
    rank: int | None = None
    world_size: Annotated[int | None, BeforeValidator(_size)] = None
    step: int | None = None
    epoch: int | None = None
    checkpoint: Annotated[str, Field(max_length=LONGEST_ADDRESS)] | None = (
        None  # where its checkpoints lie, s3://bucket/prefix
    )


class FaultEvent(Model):
    """One line of the exception queue.

    ``count`` is a delta: how many more times since the previous event of the same burst. ``seq`` is the place in the
    sender's spool. ``message`` is at most 2 KiB of UTF-8, ``attributes.truncated`` tells when it was cut.
    """

    id: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{32}$")]
    seq: Annotated[int, Field(ge=0, le=LARGEST_NUMBER)]
    kind: Kind
    severity: Severity
    persistence: Persistence = Persistence.UNKNOWN
    source: Source
    observed_at: Moment
    first_observed_at: Moment
    count: Annotated[int, Field(ge=1, le=LARGEST_NUMBER)] = 1
    component: Component | None = None
    job: JobRef | None = None
    attributes: dict[str, Scalar] = Field(default_factory=dict)
    message: str = ""


def cut_message(text: str, limit: int = MESSAGE_LIMIT_BYTES) -> tuple[str, bool]:
    """Return *text* cut to *limit* bytes of UTF-8 at a character boundary, and whether it was cut."""
    raw = text[: limit + 1].encode("utf-8", "replace")
    if len(raw) <= limit and len(text) <= limit:
        return raw.decode("utf-8"), False
    return raw[:limit].decode("utf-8", "ignore"), True


def brief_attributes(attributes: Mapping[str, Scalar], most: int) -> dict[str, Scalar]:
    """Return at most *most* of *attributes*, in few words each: what fits beside many others in an item or message."""
    kept = sorted(attributes.items())[:most]
    return {name[:LONGEST_WORD]: value[:LONGEST_WORD] if isinstance(value, str) else value for name, value in kept}

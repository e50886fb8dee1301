"""A FIFO queue without a physical name gets one that ends in `.fifo`.

CloudFormation appends the suffix to the name it makes up; moto does not, and then refuses its own name.
"""

from typing import Any

from moto.sqs.models import Queue

from local.aws.patches.replacing import Make, around_creation

_SUFFIX = ".fifo"
_MAX_NAME = 80


def apply() -> None:
    around_creation(Queue, _create)


def _create(make: Make, name: str, resource: dict[str, Any], _region: str) -> Any:
    fifo = str(resource["Properties"].get("FifoQueue", "")).lower() == "true"
    if fifo and not name.endswith(_SUFFIX):
        name = name[: _MAX_NAME - len(_SUFFIX)] + _SUFFIX
    return make(name, resource)

"""What an AWS event says, in Relight's words, before anybody knows whose instance it is about.

It must not know whether the subject is ours.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import Field

from policies.contract.base import Model
from policies.contract.events import Scalar
from policies.contract.times import Moment
from policies.contract.vocabulary import Kind, Persistence, Severity, Source


class AwsEvent(Model):
    """An EventBridge event, or what we made look like one. Identity is never read from ``resources``: see `ec2.py`."""

    id: str
    source: str
    detail_type: str = Field(alias="detail-type")
    time: Moment
    resources: tuple[str, ...] = ()
    detail: dict[str, Any]


@dataclass(frozen=True)
class Instance:
    """An EC2 instance, by id."""

    id: str


@dataclass(frozen=True)
class Reservation:
    """Every instance that runs in a capacity reservation."""

    id: str


@dataclass(frozen=True)
class TrainingJob:
    """A SageMaker training job. ``cluster`` is the value of its tag `relight:cluster`, empty when it has none."""

    name: str
    cluster: str


@dataclass(frozen=True)
class Notice:
    """One fact about one subject. ``key`` is the same when the same fact is told again."""

    key: str
    subject: Instance | Reservation | TrainingJob
    kind: Kind
    severity: Severity
    source: Source
    observed_at: datetime
    persistence: Persistence = Persistence.UNKNOWN
    attributes: Mapping[str, Scalar] = field(default_factory=dict)
    message: str = ""

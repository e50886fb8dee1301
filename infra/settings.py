"""What one deployment is told: its clusters and how long things are kept. Typed, read from TOML or JSON.

One deployment per account and region. Decides what is valid; it must not know a single AWS resource.
"""

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

DEFAULT = Path(__file__).parent / "deployments" / "default.toml"
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
Days = Annotated[int, Field(ge=1)]
# The retentions CloudWatch Logs accepts (PutRetentionPolicy, retentionInDays), up to two years.
LogDays = Literal[1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731]


class DeploymentError(Exception):
    """The settings of a deployment are missing or wrong; the message says where and what to do."""


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Network(_Model):
    """Where a function must stand to reach a private EKS endpoint: ids of subnets and security groups.

    The subnets need a way (NAT or endpoints) to STS, EKS, EC2, DynamoDB, CloudWatch Logs, and S3.
    """

    subnets: Annotated[tuple[str, ...], Field(min_length=1)]
    security_groups: Annotated[tuple[str, ...], Field(min_length=1)]


class Cluster(_Model):
    """One training cluster: what functions are told of it, and where its private endpoint can be reached from."""

    name: Name
    orchestrator: Literal["eks", "sagemaker"]
    eks_cluster: Name | None = None
    auto_scaling_groups: tuple[str, ...] = ()
    gpus_per_node: Annotated[int, Field(ge=0)] = 8
    gpu_resource: str = "nvidia.com/gpu"
    checkpoint_buckets: tuple[str, ...] = ()
    checkpoint_key_arns: tuple[str, ...] = ()  # of buckets that are encrypted with keys of your own
    sagemaker_role_arn: str | None = None
    endpoint_access: Literal["public", "private"] = "public"
    network: Network | None = None
    access_entry: bool = False  # let the stack make the EKS access entry; else see kubernetes/rbac.yaml

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.orchestrator == "eks" and not self.eks_cluster:
            raise ValueError("an eks cluster needs eks_cluster, its name in EKS")
        if self.access_entry and not self.eks_cluster:
            raise ValueError("access_entry needs eks_cluster, where it is made")
        if self.orchestrator == "sagemaker" and not self.sagemaker_role_arn:
            raise ValueError("a sagemaker cluster needs sagemaker_role_arn, which resumed jobs run as")
        if (self.endpoint_access == "private") != (self.network is not None):
            raise ValueError("a private endpoint needs network, its subnets and security_groups; a public one has none")
        return self


class Deployment(_Model):
    """Everything `infra/app.py` is told. ``name`` is the stack's."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9-]{0,63}$")] = "Relight"
    clusters: Annotated[tuple[Cluster, ...], Field(min_length=1)]
    alert_email: str | None = None
    log_retention_days: LogDays = 90
    archive_retention_days: Days = 400
    archive_cheaper_after_days: Annotated[int, Field(ge=30)] = 90  # S3 takes objects into STANDARD_IA after 30 days
    # How long the archive gathers before it writes: the most that a mapping takes is 300 s.
    archive_window_seconds: Annotated[int, Field(ge=0, le=300)] = 60
    evidence_retention_days: Days = 400
    rejects_retention_days: Days = 90
    # When what policies in shadow would have done is told, once a week at most: EventBridge's cron or rate, in UTC.
    report_schedule: Annotated[str, Field(pattern=r"^$|^(cron|rate)\(.+\)$")] = "cron(0 7 ? * MON *)"
    silent_after_seconds: Annotated[int, Field(ge=120, le=3600)] = 150  # heartbeats come every 30 s
    # Whether CloudTrail tells who wrote policies: by a trail that the stack makes, or by one that records writes to
    # its policies table already, such as an organisation's with data events.
    policy_trail: Literal["none", "own", "existing"] = "none"

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        if len({cluster.name for cluster in self.clusters}) < len(self.clusters):
            raise ValueError("two clusters have the same name")
        return self


def _only_follows(one: "ErrorDetails", errors: Sequence["ErrorDetails"]) -> bool:
    """Whether *one* says that there are too few only since what is there was refused itself."""
    loc = one["loc"]
    return one["type"] == "too_short" and any(it["loc"][: len(loc)] == loc != it["loc"] for it in errors)


def read(path: Path = DEFAULT) -> Deployment:
    """Return the deployment described in *path* (.toml or .json); DeploymentError says what is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8")
        data = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        return Deployment.model_validate_json(json.dumps(data))
    except OSError as error:
        raise DeploymentError(
            f"{path} cannot be read ({error.strerror}). Give another with -c settings=PATH."
        ) from None
    except ValidationError as error:
        errors = error.errors()
        told = [it for it in errors if not _only_follows(it, errors)]
        problems = "; ".join(f"{'.'.join(map(str, it['loc'])) or 'file'}: {it['msg']}" for it in told)
        raise DeploymentError(f"{path} is not a deployment: {problems}. See infra/settings.py.") from None
    except ValueError as error:
        raise DeploymentError(f"{path} is not {path.suffix.lstrip('.').upper() or 'TOML'}: {error}.") from None

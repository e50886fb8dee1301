"""What every function reads from its environment: typed, or a SettingsError that names the variable.

Decides what a cluster's settings are and how a variable is read. It must not read `os.environ` itself: a handler's
wiring passes the mapping in, so that a test can pass the Environment of the synthesised template.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field, TypeAdapter, ValidationError

from policies.contract.base import Model
from policies.contract.envelope import explain
from policies.contract.errors import SettingsError


class ClusterSettings(Model):
    """One training cluster of this deployment.

    ``auto_scaling_groups`` and ``checkpoint_buckets`` are names. ``gpus_per_node`` is what a healthy node offers as
    ``gpu_resource``. ``endpoint_access`` says whether a function reaches the EKS endpoint from outside its VPC.
    """

    name: str = Field(min_length=1)
    orchestrator: Literal["eks", "sagemaker"]
    eks_cluster: str | None = None
    auto_scaling_groups: tuple[str, ...] = ()
    gpus_per_node: int = Field(default=8, ge=0)
    gpu_resource: str = "nvidia.com/gpu"
    checkpoint_buckets: tuple[str, ...] = ()
    sagemaker_role_arn: str | None = None
    endpoint_access: Literal["public", "private"] = "public"


_CLUSTERS = TypeAdapter(tuple[ClusterSettings, ...])


def read_text(environ: Mapping[str, str], name: str, default: str | None = None) -> str:
    """Return the variable *name*, or *default*; SettingsError when it is missing or empty and there is no default."""
    value = environ.get(name, "").strip()
    if value:
        return value
    if default is None:
        raise SettingsError(f"{name} is not set.", hint=f"Set {name} in the function's environment (infra/ does).")
    return default


def read_number(environ: Mapping[str, str], name: str, default: float | None = None, *, above: float = 0.0) -> float:
    """Return the variable *name* as a finite number greater than *above*; SettingsError names it otherwise."""
    text = read_text(environ, name, None if default is None else str(default))
    try:
        value = float(text)
    except ValueError:
        value = above
    if not above < value < float("inf"):
        raise SettingsError(f"{name} is {text[:40]!r}.", hint=f"Set it to a number greater than {above:g}.")
    return value


def read_clusters(environ: Mapping[str, str]) -> dict[str, ClusterSettings]:
    """Return cluster name -> settings from the list in CLUSTERS; SettingsError when malformed, empty or doubled."""
    text = read_text(environ, "CLUSTERS")
    try:
        clusters = _CLUSTERS.validate_json(text)
    except ValidationError as error:
        raise SettingsError(
            f"CLUSTERS is not a list of clusters: {explain(error)}.", hint="See functions/settings.py for its shape."
        ) from None
    by_name = {cluster.name: cluster for cluster in clusters}
    if not clusters or len(by_name) != len(clusters):
        raise SettingsError("CLUSTERS has no cluster, or one name twice.", hint="Name each cluster once.")
    return by_name


def read_time_scale(environ: Mapping[str, str]) -> float:
    """Return how many real seconds one second of a policy's wait lasts: 1 in an account, less on the embedded AWS."""
    return read_number(environ, "RELIGHT_TIME_SCALE", 1.0)

"""Opens an EKS cluster for one invocation: endpoint and authority from EKS, a fresh token, a lightkube client.

Plain http is taken from loopback only: that is the embedded control plane, never an account's. It must not know what is
done in the cluster.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx2
from lightkube import Client
from lightkube.config.kubeconfig import SingleConfig
from lightkube.config.models import Cluster, Context, User

from functions.adapters.aws import calling
from functions.adapters.eks_token import eks_token
from functions.adapters.lightkube_cluster import LightkubeCluster
from functions.settings import ClusterSettings
from policies.contract.errors import DependencyError, SettingsError

if TYPE_CHECKING:
    from types_boto3_eks import EKSClient
    from types_boto3_sts import STSClient

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_PATIENCE = httpx2.Timeout(10.0, connect=5.0)


class EksClusters:
    """See `functions.ports.kubernetes.Connect`."""

    def __init__(self, eks: "EKSClient", sts: "STSClient") -> None:
        """Keep the clients and what EKS said of a cluster: endpoint and authority do not change."""
        self._eks = eks
        self._sts = sts
        self._known: dict[str, Cluster] = {}

    @contextmanager
    def __call__(self, cluster: ClusterSettings) -> Iterator[LightkubeCluster]:
        """Open the cluster; its connections are closed after. SettingsError when the settings name no EKS cluster."""
        name = cluster.eks_cluster
        if not name:
            raise SettingsError(f"cluster {cluster.name} has no eks_cluster.", hint="Set it and deploy.")
        config = SingleConfig(
            context_name=name,
            context=Context(cluster=name, user="relight"),
            cluster=self._described(name),
            user=User(token=eks_token(self._sts, name)),
        )
        with Client(config, timeout=_PATIENCE, trust_env=False, field_manager="relight") as client:
            yield LightkubeCluster(client)

    def _described(self, name: str) -> Cluster:
        if name not in self._known:
            with calling(f"describing EKS cluster {name}"):
                told = self._eks.describe_cluster(name=name)["cluster"]
            endpoint = told.get("endpoint", "")
            _check(name, endpoint)
            authority = told.get("certificateAuthority", {}).get("data") if endpoint.startswith("https:") else None
            self._known[name] = Cluster(server=endpoint, certificate_auth_data=authority)
        return self._known[name]


def _check(name: str, endpoint: str) -> None:
    parts = urlsplit(endpoint)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        return
    raise DependencyError(
        f"EKS cluster {name} has the endpoint {endpoint!r}.", hint="Only https is spoken to clusters."
    )

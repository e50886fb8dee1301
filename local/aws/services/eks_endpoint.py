"""Where a cluster's Kubernetes API is: DescribeCluster answers an address on this machine once one is set.

moto's clusters have a made-up address that leads nowhere.
"""

import threading
from typing import Any

from moto.eks.models import EKSBackend

from local.aws.patches.replacing import replace


class Endpoints:
    """Addresses by the name of the cluster."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._addresses: dict[str, str] = {}

    def set(self, name: str, url: str) -> None:
        with self._lock:
            self._addresses[name] = url

    def apply(self) -> None:
        original = EKSBackend.describe_cluster

        def describe(backend: Any, name: str) -> Any:
            cluster = original(backend, name)
            cluster.endpoint = self._addresses.get(name, cluster.endpoint)
            return cluster

        replace(EKSBackend, "describe_cluster", describe)

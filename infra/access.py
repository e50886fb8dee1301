"""EKS access entries for the Kubernetes functions, where the settings ask for them.

What the group may do inside the cluster is in `kubernetes/rbac.yaml`. It must not associate any of AWS's access
policies.
"""

from collections.abc import Sequence

from aws_cdk import aws_eks as eks
from constructs import Construct

from infra.functions import Function
from infra.settings import Cluster

GROUP = "relight"


class Access(Construct):
    """One entry for each cluster that asks: the function that reaches it acts as the group `relight`."""

    def __init__(
        self, scope: Construct, construct_id: str, reached: Sequence[tuple[Function, Sequence[Cluster]]]
    ) -> None:
        """*reached*: each Kubernetes function and the clusters it serves."""
        super().__init__(scope, construct_id)
        for function, clusters in reached:
            for cluster in clusters:
                if cluster.access_entry and cluster.eks_cluster:
                    eks.CfnAccessEntry(
                        self,
                        cluster.name,
                        cluster_name=cluster.eks_cluster,
                        principal_arn=function.role.role_arn,
                        kubernetes_groups=[GROUP],
                    )

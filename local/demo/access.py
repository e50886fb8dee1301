"""What the operator lets Relight do in the cluster: the ClusterRole bound to the group of its access entry.

The same rules stand in the manifest that an operator applies; a test holds the two against each other.
"""

from local.kubernetes.access import Rule

RELIGHT_RULES: tuple[Rule, ...] = (
    Rule(("",), ("nodes",), ("get", "list", "patch")),
    Rule(("",), ("pods",), ("get", "list", "delete")),
    Rule(("",), ("pods/eviction",), ("create",)),
    Rule(("kubeflow.org",), ("pytorchjobs",), ("get", "list", "patch")),
)

"""What the operator lets Relight do in the cluster: the ClusterRole of the manifest that the README tells to apply."""

from pathlib import Path

import yaml

from local.kubernetes.access import Rule

MANIFEST = Path(__file__).resolve().parents[2] / "infra" / "kubernetes" / "rbac.yaml"


def relight_rules(manifest: Path = MANIFEST) -> tuple[Rule, ...]:
    """The rules of every ClusterRole in *manifest*."""
    documents = yaml.safe_load_all(manifest.read_text(encoding="utf-8"))
    roles = [document for document in documents if document["kind"] == "ClusterRole"]
    return tuple(
        Rule(tuple(rule["apiGroups"]), tuple(rule["resources"]), tuple(rule["verbs"]))
        for role in roles
        for rule in role["rules"]
    )

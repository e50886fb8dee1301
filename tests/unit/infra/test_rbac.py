"""What Relight may do inside Kubernetes: what its adapter does, and nothing else."""

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[3]
RBAC = ROOT / "infra" / "kubernetes" / "rbac.yaml"


def documents() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(RBAC.read_text()))


def test_rights_are_named_one_by_one() -> None:
    role = documents()[0]
    rights = {
        (group, kind): set(rule["verbs"])
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for kind in rule["resources"]
    }
    assert rights == {
        ("", "nodes"): {"get", "list", "patch"},
        ("", "pods"): {"list", "delete"},
        ("kubeflow.org", "pytorchjobs"): {"get", "patch"},
    }


def test_the_group_of_the_access_entry_is_bound_to_the_role() -> None:
    role, binding = documents()
    assert binding["roleRef"]["name"] == role["metadata"]["name"]
    assert [(it["kind"], it["name"]) for it in binding["subjects"]] == [("Group", "relight")]
    assert "--kubernetes-groups relight" in RBAC.read_text()

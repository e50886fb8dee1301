from local.demo.access import relight_rules
from local.kubernetes.access import Access
from local.kubernetes.routes import target_of


def test_the_manifest_lets_relight_do_its_work_and_no_more() -> None:
    access = Access({}, relight_rules())
    access.check("aws:KubernetesRole", "patch", target_of("/api/v1/nodes/n"))
    access.check("aws:KubernetesRole", "patch", target_of("/apis/kubeflow.org/v1/namespaces/ml/pytorchjobs/j"))
    access.check("aws:KubernetesRole", "delete", target_of("/api/v1/namespaces/ml/pods/p"))
    rules = relight_rules()
    for verb, path in (
        ("delete", "/api/v1/nodes/n"),
        ("create", "/api/v1/namespaces/ml/pods"),
        ("patch", "/api/v1/namespaces/ml/pods/p"),
        ("delete", "/apis/kubeflow.org/v1/namespaces/ml/pytorchjobs/j"),
        ("list", "/api/v1/configmaps"),
    ):
        assert not any(rule.allows(verb, target_of(path)) for rule in rules), (verb, path)

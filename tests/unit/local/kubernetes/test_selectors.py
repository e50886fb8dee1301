import pytest

from local.kubernetes.errors import StatusError
from local.kubernetes.objects import Obj
from local.kubernetes.selectors import fields, labels, match_labels

POD: Obj = {
    "metadata": {"name": "p", "namespace": "ml", "labels": {"app": "x", "tier": "gpu"}},
    "spec": {"nodeName": "n1"},
    "status": {"phase": "Running"},
}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("app=x", True),
        ("app==x,tier=gpu", True),
        ("app!=x", False),
        ("other!=x", True),
        ("app in (y, x)", True),
        ("app notin (y,x)", False),
        ("tier", True),
        ("!tier", False),
        ("!other", True),
    ],
)
def test_a_label_selector_selects(text: str, matches: bool) -> None:
    assert labels(text)(POD) is matches


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("spec.nodeName=n1", True),
        ("spec.nodeName=n2", False),
        ("spec.nodeName!=n2,status.phase=Running", True),
        ("spec.unschedulable=false", True),
        ("metadata.name=p", True),
    ],
)
def test_a_field_selector_selects(text: str, matches: bool) -> None:
    assert fields(text)(POD) is matches


def test_a_selector_that_cannot_work_is_refused() -> None:
    with pytest.raises(StatusError, match=r"field selector .spec\.hostname=x. is not supported"):
        fields("spec.hostname=x")
    with pytest.raises(StatusError, match="unable to parse"):
        labels("a = b = c")


def test_a_selector_of_a_spec_selects() -> None:
    expressions = [
        {"key": "app", "operator": "In", "values": ["x"]},
        {"key": "tier", "operator": "Exists"},
        {"key": "other", "operator": "DoesNotExist"},
        {"key": "app", "operator": "NotIn", "values": ["y"]},
    ]
    assert match_labels({"matchLabels": {"app": "x"}, "matchExpressions": expressions})(POD)
    assert not match_labels({"matchLabels": {"app": "y"}})(POD)
    assert match_labels(None)(POD)

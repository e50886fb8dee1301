"""The corrections are for one version of moto, and every no-op has its reason."""

import importlib.metadata

from local.aws.no_ops import NO_OPS


def test_moto_is_the_version_that_is_corrected() -> None:
    assert importlib.metadata.version("moto") == "5.2.5", "go through local/aws/patches before moving on"


def test_every_no_op_says_why_nothing_is_lost() -> None:
    assert all(kind.startswith("AWS::") and len(reason) > 15 for kind, reason in NO_OPS.items())

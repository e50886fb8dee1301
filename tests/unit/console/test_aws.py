"""One terminal speaks to one region, whether `aws` or `relight` asks."""

import pytest

from console.aws import session


def test_aws_region_counts_as_it_does_for_the_aws_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    assert session().region_name == "us-west-2"
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    assert session().region_name == "eu-north-1"
    assert session("ap-south-1").region_name == "ap-south-1"


def test_an_empty_aws_region_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "")
    assert session().region_name == "us-east-1"

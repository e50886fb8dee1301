"""Which messages of a batch an outcome deletes."""

from typing import Any

import pytest

from local.aws.errors import UnsupportedError
from local.aws.event_sources.sqs import QueueSettings, settings_from, settled
from local.aws.event_sources.stream_batches import Outcome

_IDS = ["a", "b", "c"]


def _settled(response: Any, *, report: bool = True) -> set[str]:
    return settled(_IDS, Outcome(failed=False, response=response), report_failures=report)


def test_success_deletes_all() -> None:
    assert _settled(None) == {"a", "b", "c"}


def test_an_error_deletes_none() -> None:
    assert settled(_IDS, Outcome(failed=True), report_failures=True) == set()


def test_reported_messages_stay() -> None:
    assert _settled({"batchItemFailures": [{"itemIdentifier": "b"}]}) == {"a", "c"}


@pytest.mark.parametrize("identifier", ["", None, "z"])
def test_an_identifier_that_makes_no_sense_keeps_all(identifier: Any) -> None:
    assert _settled({"batchItemFailures": [{"itemIdentifier": identifier}]}) == set()


def test_a_report_is_not_read_unless_the_mapping_says_so() -> None:
    assert _settled({"batchItemFailures": [{"itemIdentifier": "b"}]}, report=False) == {"a", "b", "c"}


def test_settings() -> None:
    properties = {"BatchSize": 5, "MaximumBatchingWindowInSeconds": 2, "ScalingConfig": {"MaximumConcurrency": 3}}
    assert settings_from(properties) == QueueSettings(batch_size=5, window_seconds=2.0, concurrency=3)


def test_a_filter_is_refused() -> None:
    with pytest.raises(UnsupportedError):
        settings_from({"FilterCriteria": {"Filters": [{"Pattern": "{}"}]}})

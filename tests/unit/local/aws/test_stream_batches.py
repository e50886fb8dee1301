"""What happens to a batch of stream records after an invocation."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.aws.errors import UnsupportedError
from local.aws.event_sources.stream_batches import (
    MAX_BATCH_BYTES,
    Batch,
    Outcome,
    StreamRecord,
    StreamSettings,
    cut,
    judge,
    settings_from,
    without_expired,
)

_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_FAILED = Outcome(failed=True)


def _records(*sequences: int, size: int = 1) -> tuple[StreamRecord, ...]:
    return tuple(StreamRecord(str(number), _NOW + timedelta(seconds=number), {}, size) for number in sequences)


def _partial(*identifiers: Any) -> Outcome:
    return Outcome(failed=False, response={"batchItemFailures": [{"itemIdentifier": each} for each in identifiers]})


def _numbers(batches: Sequence[Batch]) -> list[list[int]]:
    return [[int(record.sequence) for record in batch.records] for batch in batches]


def test_success_ends_a_batch() -> None:
    assert judge(Batch(_records(1, 2)), Outcome(failed=False), StreamSettings()).again == ()


def test_a_failure_runs_the_whole_batch_again_and_counts() -> None:
    verdict = judge(Batch(_records(1, 2)), _FAILED, StreamSettings(max_retries=1))
    assert _numbers(verdict.again) == [[1, 2]]
    assert verdict.again[0].tries == 1


def test_retries_end_in_giving_up() -> None:
    verdict = judge(Batch(_records(1, 2), tries=1), _FAILED, StreamSettings(max_retries=1))
    assert verdict.again == ()
    assert verdict.discarded is not None
    assert verdict.discarded.condition == "RetryAttemptsExhausted"
    assert verdict.discarded.batch.tries == 2


def test_without_a_limit_retries_never_end() -> None:
    assert judge(Batch(_records(1), tries=10_000), _FAILED, StreamSettings()).discarded is None


def test_bisecting_splits_and_counts_no_retry() -> None:
    verdict = judge(Batch(_records(1, 2, 3), tries=1), _FAILED, StreamSettings(bisect=True, max_retries=1))
    assert _numbers(verdict.again) == [[1], [2, 3]]
    assert [batch.tries for batch in verdict.again] == [1, 1]


def test_everything_from_the_lowest_failure_on_runs_again() -> None:
    verdict = judge(Batch(_records(1, 2, 3, 4)), _partial("3", "2"), StreamSettings(report_failures=True))
    assert _numbers(verdict.again) == [[2, 3, 4]]


@pytest.mark.parametrize("identifier", ["", None, "99", {"odd": 1}])
def test_an_identifier_that_makes_no_sense_fails_the_whole_batch(identifier: Any) -> None:
    verdict = judge(Batch(_records(1, 2)), _partial(identifier), StreamSettings(report_failures=True))
    assert _numbers(verdict.again) == [[1, 2]]


@pytest.mark.parametrize("response", [None, {}, {"batchItemFailures": []}, {"batchItemFailures": None}])
def test_an_empty_report_is_success(response: Any) -> None:
    outcome = Outcome(failed=False, response=response)
    assert judge(Batch(_records(1)), outcome, StreamSettings(report_failures=True)).again == ()


def test_a_report_is_not_read_unless_the_mapping_says_so() -> None:
    assert judge(Batch(_records(1)), _partial("1"), StreamSettings()).again == ()


def test_old_records_are_split_off() -> None:
    settings = StreamSettings(max_age=timedelta(seconds=10))
    batch, expired = without_expired(Batch(_records(1, 2, 30)), settings, _NOW + timedelta(seconds=35))
    assert batch is not None
    assert expired is not None
    assert _numbers([batch, expired.batch]) == [[30], [1, 2]]
    assert expired.condition == "RecordAgeExceeded"


def test_a_batch_ends_at_six_megabytes_but_holds_at_least_one_record() -> None:
    settings = StreamSettings(batch_size=100)
    assert len(cut(_records(1, 2, 3, size=MAX_BATCH_BYTES // 2), settings)) == 2
    assert len(cut(_records(1, 2, size=MAX_BATCH_BYTES * 2), settings)) == 1


def test_settings_read_texts_as_templates_write_them() -> None:
    settings = settings_from(
        {
            "BatchSize": "10",
            "BisectBatchOnFunctionError": "true",
            "MaximumRetryAttempts": -1,
            "MaximumRecordAgeInSeconds": 60,
            "FunctionResponseTypes": ["ReportBatchItemFailures"],
            "StartingPosition": "LATEST",
            "DestinationConfig": {"OnFailure": {"Destination": "arn:aws:sqs:r:1:q"}},
        }
    )
    assert settings == StreamSettings(
        batch_size=10,
        bisect=True,
        report_failures=True,
        max_age=timedelta(seconds=60),
        from_start=False,
        on_failure="arn:aws:sqs:r:1:q",
    )


@pytest.mark.parametrize(
    "properties",
    [{"FilterCriteria": {"Filters": []}, "TumblingWindowInSeconds": 5}, {"StartingPosition": "AT_TIMESTAMP"}],
)
def test_what_is_not_represented_is_refused(properties: dict[str, Any]) -> None:
    with pytest.raises(UnsupportedError):
        settings_from(properties)


@given(
    size=st.integers(1, 20),
    poisoned=st.sets(st.integers(0, 19)),
    retries=st.integers(0, 3),
    report=st.booleans(),
)
def test_with_bisecting_exactly_the_poisoned_records_are_given_up_and_order_holds(
    size: int, poisoned: set[int], retries: int, report: bool
) -> None:
    settings = StreamSettings(bisect=True, max_retries=retries, report_failures=report)
    waiting = [Batch(_records(*range(size)))]
    through: list[int] = []
    given_up: list[int] = []
    while waiting:
        batch = waiting.pop(0)
        numbers = [int(record.sequence) for record in batch.records]
        bad = [number for number in numbers if number in poisoned]
        outcome = Outcome(failed=False) if not bad else _partial(*map(str, bad)) if report else _FAILED
        verdict = judge(batch, outcome, settings)
        again = [number for part in _numbers(verdict.again) for number in part]
        dropped = _numbers([verdict.discarded.batch])[0] if verdict.discarded else []
        given_up += dropped
        through += [number for number in numbers if number not in again and number not in dropped]
        waiting = [*verdict.again, *waiting]
    assert given_up == sorted(poisoned & set(range(size)))
    assert through == [number for number in range(size) if number not in poisoned]

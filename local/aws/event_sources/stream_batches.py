"""Decides what happens to a batch of stream records after an invocation. Pure: no threads, no moto, no clock.

The rules are those of the AWS Lambda developer guide ("Processing and retrying records" for Kinesis, "Reporting batch
item failures"): a bisected batch does not count towards the retries; with ReportBatchItemFailures everything from the
lowest failed sequence number on runs again; an unknown or empty identifier fails the whole batch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from local.aws.errors import UnsupportedError

# Lambda refuses a larger event: "Invocation payload (request and response) 6 MB each", with room for the envelope.
MAX_BATCH_BYTES = 6 * 1024 * 1024 - 64 * 1024
_UNSUPPORTED = ("FilterCriteria", "TumblingWindowInSeconds", "StartingPositionTimestamp")


@dataclass(frozen=True, slots=True)
class StreamRecord:
    """One record as the function sees it (`event`), with what the mapping itself looks at."""

    sequence: str
    arrived: datetime
    event: Mapping[str, Any]
    size: int


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """The mapping's properties. None: no limit."""

    batch_size: int = 100
    window_seconds: float = 0.0
    parallelization: int = 1
    bisect: bool = False
    report_failures: bool = False
    max_retries: int | None = None
    max_age: timedelta | None = None
    from_start: bool = True
    on_failure: str | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Records to be tried together, and how often they have been tried already."""

    records: tuple[StreamRecord, ...]
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Discarded:
    """A batch that is given up, and why (the `condition` of an on-failure record)."""

    batch: Batch
    condition: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do next: batches to try again, in order, and what is given up."""

    again: tuple[Batch, ...] = ()
    discarded: Discarded | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """An invocation as the mapping sees it: it failed as a whole, or returned `response`."""

    failed: bool
    response: Any = None


def settings_from(properties: Mapping[str, Any]) -> StreamSettings:
    """The settings in a mapping's properties.

    Raises:
        UnsupportedError: a property that is not represented here.
    """
    for name in _UNSUPPORTED:
        if properties.get(name):
            raise UnsupportedError(f"an event source mapping with {name} is not represented in the embedded AWS")
    position = properties.get("StartingPosition", "TRIM_HORIZON")
    if position not in {"TRIM_HORIZON", "LATEST"}:
        raise UnsupportedError(f"StartingPosition {position} is not represented in the embedded AWS")
    age = int(properties.get("MaximumRecordAgeInSeconds", -1))
    retries = int(properties.get("MaximumRetryAttempts", -1))
    return StreamSettings(
        batch_size=int(properties.get("BatchSize") or 100),
        window_seconds=float(properties.get("MaximumBatchingWindowInSeconds") or 0),
        parallelization=int(properties.get("ParallelizationFactor") or 1),
        bisect=is_true(properties.get("BisectBatchOnFunctionError")),
        report_failures="ReportBatchItemFailures" in (properties.get("FunctionResponseTypes") or ()),
        max_retries=None if retries < 0 else retries,
        max_age=None if age < 0 else timedelta(seconds=age),
        from_start=position == "TRIM_HORIZON",
        on_failure=((properties.get("DestinationConfig") or {}).get("OnFailure") or {}).get("Destination"),
    )


def is_true(value: object) -> bool:
    """A boolean property, which a template may spell as text."""
    return str(value).lower() == "true"


def cut(records: tuple[StreamRecord, ...], settings: StreamSettings) -> tuple[StreamRecord, ...]:
    """The first records that fit into one invocation: never fewer than one."""
    size = 0
    for index, record in enumerate(records[: settings.batch_size]):
        size += record.size
        if size > MAX_BATCH_BYTES and index > 0:
            return records[:index]
    return records[: settings.batch_size]


def without_expired(batch: Batch, settings: StreamSettings, now: datetime) -> tuple[Batch | None, Discarded | None]:
    """Split off the records that are older than the maximum age; they are the first ones."""
    if settings.max_age is None:
        return batch, None
    fresh = tuple(record for record in batch.records if now - record.arrived <= settings.max_age)
    expired = batch.records[: len(batch.records) - len(fresh)]
    discarded = Discarded(replace(batch, records=expired), "RecordAgeExceeded") if expired else None
    return (replace(batch, records=fresh) if fresh else None), discarded


def judge(batch: Batch, outcome: Outcome, settings: StreamSettings) -> Verdict:
    """What follows from an outcome."""
    failed_at = 0 if outcome.failed else _lowest_failure(batch, outcome.response, settings)
    if failed_at is None:
        return Verdict()
    rest = batch.records[failed_at:]
    if settings.bisect and failed_at > 0:
        return Verdict(again=(Batch(rest, batch.tries),))  # split at the failure: no retry is counted
    if settings.bisect and len(rest) > 1:
        half = len(rest) // 2
        return Verdict(again=(Batch(rest[:half], batch.tries), Batch(rest[half:], batch.tries)))
    tried = Batch(rest, batch.tries + 1)
    if settings.max_retries is not None and tried.tries > settings.max_retries:
        return Verdict(discarded=Discarded(tried, "RetryAttemptsExhausted"))
    return Verdict(again=(tried,))


def _lowest_failure(batch: Batch, response: object, settings: StreamSettings) -> int | None:
    """The index from which to run again; None when all went through."""
    if not settings.report_failures or response is None:
        return None
    if not isinstance(response, Mapping):
        return 0
    failures = response.get("batchItemFailures")
    if not failures:
        return None
    places = {record.sequence: index for index, record in enumerate(batch.records)}
    identifiers = [failure.get("itemIdentifier") if isinstance(failure, Mapping) else None for failure in failures]
    return min(places.get(str(identifier), 0) for identifier in identifiers)


def pause_seconds(tries: int) -> float:
    """How long to wait before a batch is tried again: the guide says only that Lambda backs off."""
    return min(0.05 * 2.0**tries, 2.0)

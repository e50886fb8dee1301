"""When an edit was written is read off the stream where it says so; whatever it says, no edit is held up for it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from functions.adapters.policy_items import typed
from functions.guard.changes import handle_changes
from functions.guard.writes import Write, made_of, write_of

AT = datetime(2026, 11, 30, 3, 12, 9, tzinfo=UTC)
SECONDS = int(AT.timestamp())


def record(
    at: object = SECONDS, *, old: dict[str, Any] | None = None, new: dict[str, Any] | None = None
) -> dict[str, Any]:
    images = {"OldImage": old, "NewImage": new}
    change = {name: typed({"name": "p", "sk": "live", **image}) for name, image in images.items() if image is not None}
    keys = {"name": {"S": "p"}, "sk": {"S": "live"}}
    return {"dynamodb": {**change, "Keys": keys, "SequenceNumber": "1", "ApproximateCreationDateTime": at}}


@pytest.mark.parametrize("at", [SECONDS, float(SECONDS) + 0.9, SECONDS * 1000, SECONDS * 1_000_000 + 7, AT])
def test_the_time_is_one_second_whatever_precision_the_table_was_told(at: object) -> None:
    """A table with ApproximateCreationDateTimePrecision hands on finer times (aws-lambda-java-libs, issue 543)."""
    write = write_of(record(at, new={"mode": "off"}))
    assert write is not None
    assert write.at == AT


@pytest.mark.parametrize("at", [None, "soon", True, -1, 0, 1e300, float("nan"), float("inf"), 10**400])
def test_a_time_that_is_none_dates_nothing_and_the_edit_is_looked_at(at: object) -> None:
    looked_at: list[tuple[str, int]] = []
    event = {"Records": [record(at, new={"mode": "off"})]}
    assert handle_changes(event, lambda name, writes: looked_at.append((name, len(writes))), print) == []
    assert looked_at == [("p", 0)]


def test_the_guards_own_writes_are_none() -> None:
    assert write_of(record(old={"mode": "off"}, new={"mode": "off", "verdict": {"status": "accepted"}})) is None
    for old, new in (({"mode": "off"}, None), (None, {"mode": "off"}), ({"mode": "off"}, {"mode": "active"})):
        assert write_of(record(old=old, new=new)) is not None


def test_bytes_come_as_text_from_lambda_and_are_told_apart_all_the_same() -> None:
    one, other = record(old={}, new={}), record(old={}, new={})
    one["dynamodb"]["NewImage"]["junk"] = {"B": "AAE="}
    other["dynamodb"]["NewImage"]["junk"] = {"BS": ["AAI="]}
    marks = [write.after for write in (write_of(one), write_of(other)) if write]
    assert len(set(marks)) == 2


def test_an_edit_is_made_of_the_writes_since_what_was_in_force() -> None:
    def write(second: int, before: str, after: str) -> Write:
        return Write(AT + timedelta(seconds=second), before, after)

    chain = [write(0, "", "a"), write(1, "a", "b"), write(2, "b", "c"), write(3, "c", "d")]
    assert made_of(chain, "a", "c") == chain[1:3]
    assert made_of(chain, "", "a") == chain[:1]
    assert made_of(chain, "never", "c") == chain[:3], "one too many rather than one too few"
    assert made_of(chain, "a", "never") == []
    back = [*chain, write(4, "d", "a"), write(5, "a", "b")]
    assert made_of(back, "a", "b") == back[5:]

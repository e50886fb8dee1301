"""Only `live` items are edits; each is looked at once a batch, and a failure ends the batch where it happened."""

from collections.abc import Sequence
from typing import Any

import pytest

from functions.guard.changes import handle_changes
from functions.guard.settings import Settings
from functions.guard.writes import Write
from policies.contract.errors import DependencyError, SettingsError


def change(name: str, number: int, sort: str = "live") -> dict[str, Any]:
    keys = {"name": {"S": name}, "sk": {"S": sort}}
    return {"eventName": "MODIFY", "dynamodb": {"Keys": keys, "SequenceNumber": str(number)}}


def lost(names: Sequence[str], change: str) -> None:
    pytest.fail(f"no line is lost by {change}: {names}")


class Eye:
    def __init__(self, *failing: str) -> None:
        self.looked_at: list[str] = []
        self._failing = failing

    def __call__(self, name: str, writes: Sequence[Write]) -> None:
        if name in self._failing:
            raise DependencyError("broken")
        self.looked_at.append(name)


def test_live_items_and_what_only_the_guard_writes_count_and_each_policy_once() -> None:
    eye = Eye()
    records = [change("a", 1), change("a", 2, "head"), change("b", 3, "rev#00000001"), change("c", 4, "answer")]
    assert handle_changes({"Records": [*records, change("a", 5), change("#shadow#a", 6, "shadow")]}, eye, lost) == []
    assert eye.looked_at == ["a", "b"]
    assert handle_changes({}, eye, lost) == []


def test_of_the_listing_the_policies_count_whose_line_changed() -> None:
    line, other = {"M": {"revision": {"N": "1"}}}, {"M": {"revision": {"N": "2"}}}
    record = change("HEADS", 1, "head")
    key = {"name": {"S": "HEADS"}}
    record["dynamodb"] |= {
        "OldImage": {**key, "p:same": line, "p:gone": line, "p:other": line},
        "NewImage": {**key, "p:same": line, "p:other": other, "note": {"S": "kim was here"}},
    }
    eye, told = Eye(), list[tuple[Sequence[str], str]]()
    assert handle_changes({"Records": [record]}, eye, lambda *lines: told.append(lines)) == []
    assert eye.looked_at == ["gone", "other"]
    del record["dynamodb"]["NewImage"]
    eye = Eye()
    assert handle_changes({"Records": [record]}, eye, lambda *lines: told.append(lines)) == []
    assert eye.looked_at == ["gone", "other", "same"]
    assert told == [(["gone"], "1"), (["gone", "other", "same"], "1")]


def test_lines_that_the_guard_adds_or_renews_are_nobodys_loss() -> None:
    record = change("HEADS", 1, "head")
    record["dynamodb"] |= {"OldImage": {"p:a": {"S": "x"}}, "NewImage": {"p:a": {"S": "y"}, "p:b": {"S": "z"}}}
    assert handle_changes({"Records": [record]}, Eye(), lost) == []


def test_the_stream_begins_again_at_the_first_failure() -> None:
    eye = Eye("b")
    records = [change("a", 1), change("b", 2), change("c", 3)]
    assert handle_changes({"Records": records}, eye, lost) == ["2"]
    assert eye.looked_at == ["a"]


def test_a_failure_at_the_very_first_edit_is_the_functions_own() -> None:
    with pytest.raises(DependencyError):
        handle_changes({"Records": [change("b", 1), change("a", 2)]}, Eye("b"), lost)


def test_settings_name_what_is_missing() -> None:
    assert Settings.from_environment({"POLICIES_TABLE": "t", "INCIDENTS_TABLE": "i"}) == Settings("t", "i")
    with pytest.raises(SettingsError, match="POLICIES_TABLE"):
        Settings.from_environment({})

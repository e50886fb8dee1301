"""Reading many items: nothing is lost between calls, and a table that stays throttled is an error in the end."""

from typing import Any

import pytest

from functions.adapters.batch_get import KEYS_PER_CALL, TRIES, batch_get
from policies.contract.errors import DependencyError

KEYS: list[dict[str, Any]] = [{"pk": {"S": f"{number:03}"}} for number in range(2 * KEYS_PER_CALL + 1)]


class Throttled:
    """Answers at most *most* keys of a call and leaves the others unread."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.asked: list[dict[str, Any]] = []

    def batch_get_item(self, *, RequestItems: dict[str, Any]) -> dict[str, Any]:  # noqa: N803 - boto3's name
        self.asked.append(RequestItems)
        read, left = {}, {}
        for table, request in RequestItems.items():
            read[table] = request["Keys"][: self.most]
            if request["Keys"][self.most :]:
                left[table] = {**request, "Keys": request["Keys"][self.most :]}
        return {"Responses": read, "UnprocessedKeys": left}


@pytest.fixture(autouse=True)
def in_no_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("functions.adapters.batch_get._FIRST_PAUSE_SECONDS", 0.0)


def test_what_is_left_unread_is_asked_for_again_with_the_same_options() -> None:
    client = Throttled(most=40)
    wanted = [*(("a", key) for key in KEYS), ("b", KEYS[0])]
    found = list(batch_get(client, wanted, "reading", ConsistentRead=True))  # type: ignore[arg-type] # the one call made
    assert sorted(found, key=str) == sorted(wanted, key=str)
    assert all(request["ConsistentRead"] for asked in client.asked for request in asked.values())
    assert max(sum(len(request["Keys"]) for request in asked.values()) for asked in client.asked) == KEYS_PER_CALL


def test_a_table_that_stays_throttled_is_an_error_with_what_was_read() -> None:
    client = Throttled(most=0)
    with pytest.raises(DependencyError, match="reading node states: DynamoDB left keys unread"):
        list(batch_get(client, [("a", KEYS[0])], "reading node states"))  # type: ignore[arg-type] # as above
    assert len(client.asked) == TRIES


def test_nothing_wanted_is_no_call() -> None:
    client = Throttled(most=1)
    assert list(batch_get(client, [], "reading")) == []  # type: ignore[arg-type] # as above
    assert client.asked == []

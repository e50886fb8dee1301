from datetime import UTC, datetime, timedelta

import pytest

from console.ago import ago

NOW = datetime(2026, 1, 21, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "0 s ago"),
        (119, "119 s ago"),
        (120, "2 min ago"),
        (7199, "119 min ago"),
        (7200, "2 h ago"),
        (172_800, "2 d ago"),
    ],
)
def test_the_largest_unit_of_which_there_are_two_is_taken(seconds: int, said: str) -> None:
    assert ago(NOW, NOW - timedelta(seconds=seconds)) == said

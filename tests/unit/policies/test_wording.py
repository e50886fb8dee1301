"""The first few words of a list, and how many more there are."""

import pytest

from policies.wording import first_few


@pytest.mark.parametrize(
    ("words", "said"),
    [("", ""), ("a", "a"), ("ab", "a, b"), ("abc", "a, b and 1 more"), ("abcde", "a, b and 3 more")],
)
def test_what_does_not_fit_is_counted(words: str, said: str) -> None:
    assert first_few(list(words), 2) == said

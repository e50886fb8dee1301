"""What is printed here goes into no terminal, whoever runs the tests, in one process or in several."""

import pytest


@pytest.fixture(autouse=True)
def _no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of pytest-xdist come with the COLUMNS of who started them; who asks for a width here sets it."""
    monkeypatch.delenv("COLUMNS", raising=False)

"""A table of policies, and a person who edits from a folder of their own."""

from pathlib import Path

import pytest

from tests.tools.editing import DOCUMENT, Desk, Person


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def kim(desk: Desk, tmp_path: Path) -> Person:
    """Has one policy, and has not pushed it."""
    return Person(desk, tmp_path / "kim", DOCUMENT)

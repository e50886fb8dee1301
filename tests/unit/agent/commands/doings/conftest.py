"""A node for operations: programs of its own first in PATH, an errand with a minute."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.commands.doing import Errand
from tests.tools.commands import claim
from tests.tools.node_programs import Programs, programs_in_path


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    return programs_in_path(tmp_path / "bin", monkeypatch)


@pytest.fixture
def errand() -> Callable[..., Errand]:
    def make(seconds: float = 60.0, *, rebooted: bool = False) -> Errand:
        return Errand("0f" * 16, claim(), seconds, threading.Event(), rebooted)

    return make

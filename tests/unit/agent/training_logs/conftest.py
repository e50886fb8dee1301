from pathlib import Path

import pytest

from tests.unit.agent.training_logs.ranks import Ranks


@pytest.fixture
def ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ranks:
    monkeypatch.setattr("agent.training_logs.source._LOOK_SECONDS", 0.02)
    return Ranks(tmp_path)

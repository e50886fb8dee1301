from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from agent.spool.limits import SpoolLimits
from agent.spool.opening import open_spool
from agent.spool.spool import Spool
from tests.tools.agent_events import ManualClock, describe_loss, new_ids


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def opened(tmp_path: Path, clock: ManualClock) -> Callable[..., AbstractContextManager[Spool]]:
    ids = new_ids()

    def opener(
        owner: str = "i-1", boot_id: str = "b", limits: SpoolLimits | None = None
    ) -> AbstractContextManager[Spool]:
        return open_spool(
            tmp_path,
            owner=owner,
            boot_id=boot_id,
            limits=limits or SpoolLimits(),
            clock=clock,
            new_id=ids,
            describe_loss=describe_loss,
            patience=0.3,
        )

    return opener

"""One embedded AWS for all tests of this folder; each test deploys a stack of its own into it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from local.aws.server import EmbeddedAws
from tests.integration.local.stacks import Resources, Stack, launch

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedAws]:
    """Waits last a hundredth: a minute of back-off is 0.6 s."""
    with EmbeddedAws(tmp_path_factory.mktemp("aws"), code_root=ROOT, time_scale=0.01) as running:
        yield running


@pytest.fixture
def launched(aws: EmbeddedAws, tmp_path: Path) -> Callable[[Resources], Stack]:
    """Deploys resources as a stack of the test's own."""
    return lambda resources: launch(aws, tmp_path, resources)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """The file to which the handlers of this test write."""
    return tmp_path / "out.jsonl"

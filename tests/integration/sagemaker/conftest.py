"""One deployment for the stories of a file; every call of the stack's roles must have been allowed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.settings import read
from local.aws.iam import check, roles_of
from tests.integration.sagemaker.world import SETTINGS, World, world


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[World]:
    with world(tmp_path_factory.mktemp(Path(request.path).stem)) as there:
        yield there
        report = check(there.aws.recorded_calls(), roles_of(there.aws, read(SETTINGS).name))
    assert [str(denied) for denied in report.denied] == []
    assert report.unknown_conditions == []


@pytest.fixture(autouse=True)
def no_fault_outlives_its_story(jobs: World) -> Iterator[None]:
    yield
    jobs.aws.clear_faults()

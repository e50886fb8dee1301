"""A small cluster a file. When its stories are told, every call of the stack's own roles must have been allowed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from local.aws.iam import check
from local.demo.cluster import LocalCluster
from local.fleet.infrastructure import Site
from tests.tools.grants import keep_record, stories_roles

pytest.register_assert_rewrite("tests.tools.stories")  # so that what does not end well is shown, not only told
from tests.tools.stories import XID_79, Story  # noqa: E402 - rewriting comes before the import


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[LocalCluster]:
    """Three nodes, one job over all of them, with a checkpoint to go back to; a file may name its own POLICIES."""
    name = Path(request.path).stem
    policies = getattr(request.module, "POLICIES", frozenset({XID_79}))
    with LocalCluster(tmp_path_factory.mktemp(name), site=Site(size=3), policies=policies) as cluster:
        cluster.wait_for_checkpoints(1)
        yield cluster
        calls = cluster.aws.recorded_calls()
        keep_record(name, cluster, calls)
        report = check(calls, stories_roles(cluster))
    assert [str(denied) for denied in report.denied] == []
    assert report.unknown_conditions == []


@pytest.fixture
def story(cluster: LocalCluster) -> Iterator[Story]:
    """A story that begins now. What it ordered and did not get must not befall the next one."""
    yield Story(cluster)
    cluster.aws.clear_faults()

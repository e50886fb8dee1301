from agent.host.limits import beyond
from agent.polls.reading import Holds
from policies.contract.vocabulary import Kind
from tests.tools.polling import bench


def test_what_is_beyond_the_measured_is_told_once_and_when_it_is_over() -> None:
    with bench() as work:
        assert work.take(beyond("mounts", 33, 32), 0) == []
        (told,) = work.take(beyond("mounts", 34, 32), 60)
        assert told["kind"] == "pipeline.gap"
        assert told["attributes"] == {"reason": "too_many_mounts", "of": "mounts", "lost": 2}
        assert work.take(beyond("mounts", 40, 32), 600) == []
        work.take(beyond("mounts", 32, 32), 700)
        assert [event["kind"] for event in work.take((), 731)] == ["condition.cleared"]


def test_disks_and_mounts_are_two_gaps() -> None:
    keys = {one.key for of in ("mounts", "disks") for one in beyond(of, 99, 1) if isinstance(one, Holds)}
    assert len(keys) == 2
    assert all(key.startswith(Kind.PIPELINE_GAP) for key in keys)

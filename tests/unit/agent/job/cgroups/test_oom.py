import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.job.cgroups.names import CgroupOwner, owner_of
from agent.job.cgroups.oom import OomPoll
from agent.polls.reading import NotHereError
from tests.tools.cgroups import cgroup, kill
from tests.tools.polling import Bench, bench, instant, measure

UID = "0b1c2d3e-0000-4000-8000-00000000abcd"
POD = f"kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{UID.replace('-', '_')}.slice"
ID = "3f" * 32
CONTAINER = f"{POD}/cri-containerd-{ID}.scope"


@pytest.fixture
def work() -> Iterator[Bench]:
    with bench() as one:
        yield one


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    cgroup(tmp_path, CONTAINER, limit=8 << 30)
    cgroup(tmp_path, "system.slice/sshd.service")
    return tmp_path


def seen(work: Bench, sysfs: Path, second: float) -> list[dict[str, Any]]:
    return work.poll(OomPoll(sysfs), second)


def test_a_container_that_hit_its_limit_is_told_once_with_its_limit(work: Bench, sysfs: Path) -> None:
    assert seen(work, sysfs, 0) == []
    kill(sysfs, CONTAINER, limited=CONTAINER)
    (event,) = seen(work, sysfs, 5)
    assert (event["kind"], event["severity"], event["count"]) == ("container.oom_kill", "error", 1)
    assert event["component"] == {"type": "container"}
    assert event["attributes"] == {
        "cgroup": CONTAINER,
        "container": ID,
        "pod_uid": UID,
        "by": "limit",
        "limit_bytes": 8 << 30,
    }
    assert [seen(work, sysfs, second) for second in (10, 20, 30)] == [[], [], []]


def test_what_was_killed_before_the_agent_came_is_old_and_what_came_while_it_was_away_is_not(
    work: Bench, sysfs: Path
) -> None:
    kill(sysfs, CONTAINER, limited=CONTAINER)
    assert seen(work, sysfs, 0) == []
    seen(work, sysfs, 20)
    work.work.finish(instant(20))
    kill(sysfs, CONTAINER, limited=CONTAINER, count=2)
    work.restart()
    assert [event["count"] for event in seen(work, sysfs, 60)] == [2]


def test_the_limit_of_a_pod_is_told_of_the_container_that_paid(work: Bench, sysfs: Path) -> None:
    cgroup(sysfs, POD, limit=1 << 30)
    seen(work, sysfs, 0)
    kill(sysfs, CONTAINER, limited=POD)
    (event,) = seen(work, sysfs, 5)
    assert (event["attributes"]["container"], event["attributes"]["limited"]) == (ID, POD)
    assert event["attributes"]["limit_bytes"] == 1 << 30


def test_the_node_s_own_memory_is_told_apart_and_informs(work: Bench, sysfs: Path) -> None:
    seen(work, sysfs, 0)
    kill(sysfs, CONTAINER)
    (event,) = seen(work, sysfs, 5)
    assert (event["severity"], event["attributes"]["by"], event["attributes"]["symptom"]) == ("info", "node", True)


def test_a_container_that_was_removed_before_the_look_is_told_of_its_pod(work: Bench, sysfs: Path) -> None:
    seen(work, sysfs, 0)
    kill(sysfs, CONTAINER, limited=CONTAINER)
    shutil.rmtree(sysfs / "fs/cgroup" / CONTAINER)
    (event,) = seen(work, sysfs, 5)
    assert (event["attributes"]["pod_uid"], event["attributes"]["by"]) == (UID, "limit")
    assert "container" not in event["attributes"]


def test_a_container_that_came_after_the_first_look_counts_from_its_beginning(work: Bench, sysfs: Path) -> None:
    seen(work, sysfs, 0)
    other = CONTAINER.replace(ID, "4e" * 32)
    cgroup(sysfs, other, limit=1 << 20)
    kill(sysfs, other, limited=other)
    assert [event["attributes"]["container"] for event in seen(work, sysfs, 5)] == ["4e" * 32]


def test_a_container_of_the_same_name_that_was_made_anew_counts_from_nothing(work: Bench, sysfs: Path) -> None:
    kill(sysfs, CONTAINER, limited=CONTAINER, count=5)
    seen(work, sysfs, 0)
    shutil.rmtree(sysfs / "fs/cgroup/kubepods.slice")
    cgroup(sysfs, CONTAINER, limit=1 << 20)
    kill(sysfs, CONTAINER, limited=CONTAINER)
    assert [event["count"] for event in seen(work, sysfs, 5)] == [1]


def test_a_parent_without_the_file_hides_nothing(work: Bench, sysfs: Path) -> None:
    for folder in ("kubepods.slice", POD):
        (sysfs / "fs/cgroup" / folder / "memory.events").unlink()
    seen(work, sysfs, 0)
    events = sysfs / "fs/cgroup" / CONTAINER / "memory.events"
    events.write_text("low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\n")
    # The slice between counts too, and the child accounts for it.
    (sysfs / "fs/cgroup/kubepods.slice/kubepods-burstable.slice/memory.events").write_text("oom 1\noom_kill 1\n")
    assert [event["count"] for event in seen(work, sysfs, 5)] == [1]


def test_a_file_that_could_not_be_read_once_makes_no_kill_twice(work: Bench, sysfs: Path) -> None:
    seen(work, sysfs, 0)
    kill(sysfs, CONTAINER, limited=CONTAINER)
    above = sysfs / "fs/cgroup" / POD / "memory.events"
    counts = above.read_text()
    above.write_text("")
    assert [event["count"] for event in seen(work, sysfs, 5)] == [1]
    above.write_text(counts)
    assert [seen(work, sysfs, second) for second in (10, 30)] == [[], []]


def test_of_a_tree_in_which_nothing_happened_only_the_top_is_read(work: Bench, sysfs: Path) -> None:
    for number in range(200):
        cgroup(sysfs, CONTAINER.replace(ID, f"{number:064x}"))
    seen(work, sysfs, 0)
    hidden = sysfs / "fs/cgroup" / CONTAINER / "memory.events"
    hidden.write_text("oom 1\noom_kill 1\n")  # which a kernel would count above as well
    assert seen(work, sysfs, 5) == []


def test_rubbish_in_the_files_stops_nothing(work: Bench, sysfs: Path) -> None:
    seen(work, sysfs, 0)
    for text in ("", "oom_kill", "oom_kill x\n", "oom 1\noom_kill -3\n", "\x00" * 5000):
        (sysfs / "fs/cgroup" / CONTAINER / "memory.events").write_text(text)
        assert seen(work, sysfs, 5) == []


def test_version_1_counts_each_cgroup_alone(work: Bench, tmp_path: Path) -> None:
    root = tmp_path / "fs/cgroup/memory"
    folder = root / "kubepods/burstable" / f"pod{UID}" / ID
    folder.mkdir(parents=True)
    for one in (root, root / "kubepods", folder):
        (one / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 0\n")
        (one / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    (folder / "memory.limit_in_bytes").write_text("1048576\n")
    seen(work, tmp_path, 0)
    (folder / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
    (event,) = seen(work, tmp_path, 20)
    assert (event["attributes"]["container"], event["attributes"]["limit_bytes"]) == (ID, 1 << 20)
    (folder / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    (folder / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n")
    assert [event["attributes"]["by"] for event in seen(work, tmp_path, 40)] == ["node"]


def test_a_node_without_cgroups_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotHereError, match="sysfs"):
        measure(OomPoll(tmp_path))


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        (CONTAINER, CgroupOwner(pod_uid=UID, container=ID)),
        (f"kubepods/burstable/pod{UID}/{ID}", CgroupOwner(pod_uid=UID, container=ID)),
        (f"system.slice/docker-{ID}.scope", CgroupOwner(container=ID)),
        (f"docker/{ID}", CgroupOwner(container=ID)),
        (
            "system.slice/slurmstepd.scope/job_77/step_0/user/task_1",
            CgroupOwner(slurm_job="77", slurm_step="0"),
        ),
        ("system.slice/kubelet.service", CgroupOwner(unit="kubelet.service")),
        ("user.slice/user-1000.slice", CgroupOwner()),
        ("", CgroupOwner()),
    ],
)
def test_a_cgroup_s_path_tells_whose_it_is(path: str, owner: CgroupOwner) -> None:
    assert owner_of(path) == owner

"""The fleet's agents: forked from one preloaded parent, killed one by one, and none left behind."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from local.fleet import agent_parent
from local.fleet.agents import Agents
from tests.tools.sources import eventually


def environment(folder: Path, number: int) -> dict[str, str]:
    """One whose lanes answer nothing: the agent keeps trying, and stops at once when it is told to."""
    log = folder / f"kmsg-{number}"
    log.touch()
    return {
        "PATH": os.environ["PATH"],
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "RELIGHT_AGENT_CLUSTER": "training",
        "RELIGHT_AGENT_STREAM": "faults",
        "RELIGHT_AGENT_INSTANCE_ID": f"i-{number}",
        "RELIGHT_AGENT_KERNEL_LOG": str(log),
        "RELIGHT_AGENT_SPOOL_DIR": str(folder / f"spool-{number}"),
        "RELIGHT_AGENT_STOP_SECONDS": "0.2",
        "RELIGHT_AGENT_JOURNAL_UNITS": "",
        "RELIGHT_AGENT_HOST_CHECKS": "false",
        "RELIGHT_AGENT_STATUS_SOCKET": "",
    }


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_one_agent_is_killed_and_the_others_go_on_until_the_fleet_is_closed(tmp_path: Path) -> None:
    with Agents(tmp_path) as agents:
        pids = [agents.start(environment(tmp_path, number), tmp_path / f"{number}.log") for number in range(3)]
        eventually(lambda: all("agent starts" in (tmp_path / f"{n}.log").read_text() for n in range(3)))
        assert len({os.getpgid(pid) for pid in pids}) == 3
        agents.kill(pids[1])
        eventually(lambda: not is_alive(pids[1]))
        assert [is_alive(pid) for pid in pids] == [True, False, True]
        again = agents.start(environment(tmp_path, 1), tmp_path / "1.log")
        eventually(lambda: (tmp_path / "1.log").read_text().count("agent starts") == 2)
    assert not any(is_alive(pid) for pid in [*pids, again])


def test_an_agent_that_does_not_end_is_gone_when_its_parent_has_ended_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_parent, "_GRACE_SECONDS", 0.05)
    deaf = 'trap "" TERM; echo up; while :; do sleep 1; done'
    with subprocess.Popen(["sh", "-c", deaf], stdout=subprocess.PIPE, start_new_session=True) as one:
        assert one.stdout is not None
        assert one.stdout.readline() == b"up\n"
        agent_parent._end({one.pid})
        assert not Path(f"/proc/{one.pid}").exists()
        os.killpg(one.pid, signal.SIGKILL)  # the sleep that it left


def test_no_agent_is_left_when_its_parent_has_to_be_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local.fleet.agents._STOP_SECONDS", 0.1)
    with Agents(tmp_path) as agents:
        pids = [agents.start(environment(tmp_path, number), tmp_path / f"{number}.log") for number in range(3)]
        os.kill(agents._parent.pid, signal.SIGSTOP)
    assert [pid for pid in pids if is_alive(pid)] == []


def of_group(leader: int, number: int) -> None:
    os.killpg(leader, number)


def of_the_agents_parent(leader: int, number: int) -> None:
    children = Path(f"/proc/{leader}/task/{leader}/children").read_text().split()
    os.kill(int(children[0]), number)


@pytest.mark.parametrize(
    ("whom", "number"),
    [(os.kill, signal.SIGKILL), (of_group, signal.SIGHUP), (of_group, signal.SIGTERM), (of_the_agents_parent, 9)],
)
def test_no_agent_outlives_a_fleet_whatever_ends_it(
    whom: Callable[[int, int], None], number: int, tmp_path: Path
) -> None:
    """SIGHUP to the whole group is what a terminal that is closed sends."""
    script = f"""if True:
        import sys, time
        from pathlib import Path
        from local.fleet.agents import Agents
        environment = {environment(tmp_path, 0)!r}
        agents = Agents(Path({str(tmp_path)!r}))
        print(agents.start(environment, Path({str(tmp_path / "0.log")!r})), flush=True)
        time.sleep(600)
    """
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", script]
    fleet = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert fleet.stdout is not None
    with fleet.stdout:
        pid = int(fleet.stdout.readline())
    log = tmp_path / "0.log"
    eventually(lambda: log.exists() and "agent starts" in log.read_text())
    assert is_alive(pid)
    whom(fleet.pid, number)
    eventually(lambda: not is_alive(pid))
    with contextlib.suppress(ProcessLookupError):
        fleet.kill()
    fleet.wait()

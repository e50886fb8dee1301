import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agent.fabric.imex.ctl import Ask, ask_program
from agent.fabric.imex.domain import daemon_state, read_domain
from agent.fabric.imex.poll import Imex
from agent.polls.reading import NotHereError
from agent.programs import Said
from tests.tools.polling import Bench, bench, measure

NODES = ("10.0.0.1", "10.0.0.2", "10.0.0.3")
HANGS = 0.3


def domain(status: str = "UP", **others: str) -> str:
    """Return what ``-N -j`` prints for NODES; *others* are states by the last number of an address, as ``n2``."""
    states = {host: others.get(f"n{host[-1]}", "READY") for host in NODES}
    nodes = {
        str(number): {
            "status": state,
            "host": host,
            "connections": {"0": {"host": NODES[0], "status": "CONNECTED", "changed": True}},
            "hostName": f"gpu-{number}",
        }
        for number, (host, state) in enumerate(states.items())
    }
    return json.dumps({"nodes": nodes, "timestamp": "9/4/2026 00:00:00.000", "status": status})


class Ctl:
    """Answers as nvidia-imex-ctl would."""

    def __init__(self, state: str = "READY", told: str = "") -> None:
        self.state, self.told = state, told or domain()

    def __call__(self, arguments: Sequence[str]) -> Said | None:
        return Said(self.state if "-q" in arguments else self.told)


def imex(folder: Path, ask: Ask, *, kind: str = "p6e-gb200.36xlarge", nodes: Sequence[str] = NODES) -> Imex:
    (folder / "nodes.cfg").write_text("\n".join(nodes) + "\n")
    (folder / "config.cfg").write_text(f"LOG_LEVEL=4\nIMEX_NODE_CONFIG_FILE={folder / 'nodes.cfg'}\n")
    devices = folder / "dev"
    (devices / "nvidia-caps-imex-channels").mkdir(parents=True, exist_ok=True)
    (devices / "nvidiactl").touch()
    (devices / "nvidia-caps-imex-channels/channel0").touch()
    return Imex(ask, folder / "config.cfg", kind, devices, lambda: frozenset({"10.0.0.1", "127.0.1.1"}))


def polled(work: Bench, poll: Imex, *seconds: int) -> list[dict[str, Any]]:
    return [event for second in seconds for event in work.poll(poll, second)]


def test_a_domain_that_is_up_tells_nothing(tmp_path: Path) -> None:
    with bench() as work:
        assert polled(work, imex(tmp_path, Ctl()), 0, 30, 60, 90) == []


def test_a_peer_that_is_not_ready_is_named_by_its_address(tmp_path: Path) -> None:
    ctl = Ctl(told=domain("DEGRADED", n2="UNAVAILABLE"))
    with bench() as work:
        assert polled(work, imex(tmp_path, ctl), 0, 30) == []
        (event,) = polled(work, imex(tmp_path, ctl), 60)
        assert (event["kind"], event["severity"]) == ("imex.error", "warning")
        assert event["attributes"] == {
            "reason": "peer",
            "remote": "10.0.0.2",
            "state": "UNAVAILABLE",
            "domain": "DEGRADED",
        }
        ctl.told = domain()
        assert [one["attributes"]["remote"] for one in polled(work, imex(tmp_path, ctl), 90, 130)] == ["10.0.0.2"]


def test_each_peer_is_a_fault_of_its_own(tmp_path: Path) -> None:
    ctl = Ctl(told=domain("DEGRADED", n2="UNAVAILABLE", n3="WAITING_FOR_RECOVERY"))
    with bench() as work:
        told = polled(work, imex(tmp_path, ctl), 0, 60)
    assert [one["attributes"]["remote"] for one in told] == ["10.0.0.2", "10.0.0.3"]


def test_a_configured_peer_that_the_domain_does_not_know_is_missed(tmp_path: Path) -> None:
    with bench() as work:
        told = polled(work, imex(tmp_path, Ctl(), nodes=(*NODES, "10.0.0.4")), 0, 60)
    assert [(one["attributes"]["remote"], one["attributes"]["state"]) for one in told] == [
        ("10.0.0.4", "not in the domain")
    ]


@pytest.mark.parametrize("state", ["UNAVAILABLE", "WAITING_FOR_RECOVERY", "connection refused"])
def test_a_daemon_that_was_ready_and_is_not_is_this_nodes_fault(tmp_path: Path, state: str) -> None:
    ctl = Ctl()
    with bench() as work:
        polled(work, imex(tmp_path, ctl), 0)
        ctl.state = state
        (event,) = polled(work, imex(tmp_path, ctl), 30, 60, 90)
    assert (event["severity"], event["attributes"]["reason"]) == ("error", "daemon")


def test_a_daemon_that_never_answered_may_be_asked_in_vain(tmp_path: Path) -> None:
    with bench() as work:
        assert polled(work, imex(tmp_path, Ctl("could not connect")), 0, 60, 120) == []


def test_a_daemon_that_never_became_ready_is_a_warning(tmp_path: Path) -> None:
    with bench() as work:
        (event,) = polled(work, imex(tmp_path, Ctl("WAITING_FOR_PEERS")), 0, 60)
    assert (event["severity"], event["attributes"]["state"]) == ("warning", "WAITING_FOR_PEERS")


def test_without_channels_no_process_can_share_memory(tmp_path: Path) -> None:
    poll = imex(tmp_path, Ctl())
    (tmp_path / "dev/nvidia-caps-imex-channels/channel0").unlink()
    with bench() as work:
        assert [one["attributes"]["reason"] for one in polled(work, poll, 0, 60)] == ["channels"]
    (tmp_path / "dev/nvidiactl").unlink()  # a container that does not see the node's devices
    with bench() as work:
        assert polled(work, poll, 0, 60) == []


def test_other_types_and_unconfigured_nodes_say_why_there_is_nothing(tmp_path: Path) -> None:
    with pytest.raises(NotHereError, match="no part of an UltraServer"):
        measure(imex(tmp_path, Ctl(), kind="p5.48xlarge"))
    with pytest.raises(NotHereError, match="names no node"):
        measure(imex(tmp_path, Ctl(), nodes=()))
    with pytest.raises(NotHereError, match="not installed"):
        measure(imex(tmp_path, lambda _arguments: None))


@pytest.mark.parametrize(
    "text", ["", "[]", "null", '{"nodes": []}', '{"nodes": {}}', "[" * 50_000, '{"nodes": {"0": 1}}']
)
def test_what_is_not_of_the_known_shape_is_not_understood(text: str) -> None:
    assert read_domain(text) is None


def test_the_states_that_nvidia_documents_are_understood() -> None:
    assert daemon_state("READY\n") == "READY"
    assert daemon_state("error: could not connect") is None
    told = read_domain(domain("DOWN", n1="UNAVAILABLE"))
    assert told is not None
    assert (told.status, told.nodes["10.0.0.1"]) == ("DOWN", "UNAVAILABLE")


def program(folder: Path, body: str) -> str:
    path = folder / "nvidia-imex-ctl"
    path.write_text(f"#!{sys.executable}\nimport sys, time\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_the_program_is_asked_with_a_deadline(tmp_path: Path) -> None:
    ask = ask_program(program(tmp_path, "time.sleep(60)"), seconds=HANGS)
    began = time.monotonic()
    said = ask(["-q"])
    assert said is not None
    assert (said.output, said.status) == ("", None)
    assert time.monotonic() - began < 30


def test_what_the_program_prints_is_its_answer(tmp_path: Path) -> None:
    ask = ask_program(program(tmp_path, "print('READY' if '-q' in sys.argv else '{}'); sys.exit(3)"))
    said = ask(["-q"])
    assert said is not None
    assert (said.output, said.status) == ("READY\n", 3)


def test_a_program_that_is_not_there_is_none(tmp_path: Path) -> None:
    assert ask_program(str(tmp_path / "none"))(["-q"]) is None

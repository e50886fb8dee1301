"""What Kubernetes learns of machines: on, dark, or gone."""

from datetime import UTC, datetime
from pathlib import Path

from local.fleet import nodes
from local.fleet.kernel_log import KernelLog
from local.fleet.machines import Machine, MachineRoom
from local.kubernetes.resources import NODES
from local.kubernetes.store import Store


def machine(folder: Path, instance_id: str, name: str = "n0") -> Machine:
    folder = folder / instance_id
    folder.mkdir()
    log = KernelLog(folder / "kmsg")
    return Machine(instance_id, name, "p5.48xlarge", "us-east-1a", "10.0.0.1", folder, "boot", log)


def test_a_dark_machine_still_exists_until_the_cloud_takes_it(tmp_path: Path) -> None:
    room = MachineRoom()
    one = machine(tmp_path, "i-1")
    room.add(one)
    assert room.is_powered("n0")
    assert room.exists("aws:///us-east-1a/i-1")
    one.is_on = False
    assert not room.is_powered("n0")
    assert room.exists("aws:///us-east-1a/i-1")
    one.is_gone = True
    assert not room.exists("aws:///us-east-1a/i-1")
    assert not room.is_powered("nobody")


def test_a_name_that_is_used_again_means_the_newer_machine(tmp_path: Path) -> None:
    room = MachineRoom()
    for instance_id in ("i-1", "i-2"):
        room.add(machine(tmp_path, instance_id))
    room.get("i-1").broken_gpus.add(3)
    assert not room.stops_training("n0")
    room.get("i-2").broken_gpus.add(0)
    assert room.stops_training("n0")


def test_a_replacement_joins_with_the_startup_taint_and_a_broken_gpu_is_not_allocatable(tmp_path: Path) -> None:
    store = Store(now=lambda: datetime(2026, 1, 31, tzinfo=UTC))
    first, second = machine(tmp_path, "i-1", "n1"), machine(tmp_path, "i-2", "n2")
    nodes.join(store, first, is_verified=True)
    nodes.join(store, second, is_verified=False)
    nodes.join(store, second, is_verified=False)
    second.broken_gpus.add(1)
    nodes.tell_status(store, second)
    found = {node["metadata"]["name"]: node for node in store.select(NODES)[0]}
    assert "taints" not in found["n1"]["spec"]
    assert found["n2"]["spec"]["taints"] == [{"key": "relight.dev/unverified", "effect": "NoSchedule"}]
    assert found["n2"]["spec"]["providerID"] == "aws:///us-east-1a/i-2"
    assert found["n1"]["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    assert found["n2"]["status"]["allocatable"]["nvidia.com/gpu"] == "7"

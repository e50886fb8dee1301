"""The machines of the fleet: what each has on its disk, whether it is on, and which of its GPUs are broken.

This is also what the control loops of Kubernetes know of the world (`Machines` there). It must not know AWS calls.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from local.fleet.gpu_tools import GpuTools
from local.fleet.kernel_log import KernelLog


@dataclass
class Machine:
    """One instance that has booted at least once."""

    instance_id: str
    name: str  # the private DNS name, which is also the node's name
    instance_type: str
    zone: str
    address: str
    folder: Path
    boot_id: str
    kernel_log: KernelLog
    is_on: bool = True  # its kubelet and agent can run
    is_gone: bool = False  # the cloud has taken it away; one that is off and not gone has merely crashed
    agent: int | None = None  # process id
    broken_gpus: set[int] = field(default_factory=set)
    lost_efa: set[str] = field(default_factory=set)  # PCI buses
    gpu_tools: GpuTools = field(init=False)

    def __post_init__(self) -> None:
        self.gpu_tools = GpuTools(self.folder)

    @property
    def provider_id(self) -> str:
        return f"aws:///{self.zone}/{self.instance_id}"

    @property
    def job_file(self) -> Path:
        """Where the agent reads which job runs here."""
        return self.folder / "job.json"

    @property
    def sysfs(self) -> Path:
        """The node's own /sys."""
        return self.folder / "sys"

    @property
    def procfs(self) -> Path:
        """The node's own /proc: links to those processes of this machine that are its."""
        return self.folder / "proc"

    @property
    def beats(self) -> Path:
        """Where its ranks beat."""
        return self.folder / "beats"

    @property
    def stops_training(self) -> bool:
        """Whether no rank here can go on: a GPU or an EFA device is gone, or the machine hangs."""
        return bool(self.broken_gpus or self.lost_efa) or not self.is_on

    def show_process(self, pid: int) -> Path:
        """Let the node's /proc show this process of the machine that all nodes run on; returns the link."""
        self.procfs.mkdir(exist_ok=True)
        for name in ("self", "1"):
            if not (self.procfs / name).is_symlink():
                (self.procfs / name).symlink_to(f"/proc/{name}")
        link = self.procfs / str(pid)
        link.symlink_to(f"/proc/{pid}")
        return link

    @property
    def spool(self) -> Path:
        """The agent's own folder."""
        return self.folder / "spool"


class MachineRoom:
    """All machines there ever were, by instance id, in the order in which they came."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._machines: dict[str, Machine] = {}

    def add(self, machine: Machine) -> None:
        with self._lock:
            self._machines[machine.instance_id] = machine

    def __iter__(self) -> Iterator[Machine]:
        with self._lock:
            return iter(list(self._machines.values()))

    def __len__(self) -> int:
        return len(self._machines)

    def find(self, instance_id: str) -> Machine | None:
        return self._machines.get(instance_id)

    def get(self, instance_id: str) -> Machine:
        return self._machines[instance_id]

    def of_node(self, name: str) -> Machine | None:
        """The newest machine of this name."""
        found = [machine for machine in self if machine.name == name]
        return found[-1] if found else None

    def is_powered(self, node: str) -> bool:
        machine = self.of_node(node)
        return machine is not None and machine.is_on

    def exists(self, provider_id: str) -> bool:
        return any(machine.provider_id == provider_id and not machine.is_gone for machine in self)

    def stops_training(self, node: str) -> bool:
        machine = self.of_node(node)
        return machine is not None and machine.stops_training

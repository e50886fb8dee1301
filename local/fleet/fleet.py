"""The fleet itself: follows the group's instances, boots and powers off machines, breaks what it is told to break.

It learns of instances only from EC2. What Relight does, it sees as a real machine would: by being terminated.
"""

import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from local.aws.server import EmbeddedAws
from local.fleet import cgroups, efa, infrastructure, nodes
from local.fleet.agents import Agents
from local.fleet.beat import Beat
from local.fleet.infrastructure import Site
from local.fleet.kernel_log import KernelLog
from local.fleet.machines import Machine, MachineRoom
from local.fleet.ranks import Ranks
from local.kubernetes.store import Store

_POLL_SECONDS = 0.4
_OFF = frozenset({"shutting-down", "terminated", "stopping", "stopped"})
_GONE = frozenset({"shutting-down", "terminated"})


@dataclass(frozen=True)
class Fault:
    """Something that was broken on purpose: a GPU, or what ``what`` says."""

    instance_id: str
    node: str
    gpu: int | None
    xid: int | None
    at: datetime
    what: str = ""


@dataclass(frozen=True, slots=True)
class Delays:
    """Real seconds: from EC2's "running" to a kubelet (the first fleet has none), and until EC2 sees a machine hang."""

    boot: float = 0.0
    impaired: float = 0.0


class Fleet:
    """Follows EC2 from `start` to `stop`. `environment` makes an agent's environment."""

    def __init__(
        self,
        *,
        aws: EmbeddedAws,
        site: Site,
        room: MachineRoom,
        kubernetes: Store,
        agents: Agents,
        environment: Callable[[Machine], Mapping[str, str]],
        folder: Path,
        delays: Delays,
    ) -> None:
        """Start nothing yet."""
        self._aws = aws
        self._site = site
        self.room = room
        self._kubernetes = kubernetes
        self._agents = agents
        self._environment = environment
        self._folder = folder
        self._delays = delays
        self._running_since: dict[str, float] = {}
        self._frozen_since: dict[str, float] = {}
        self._beat = Beat("fleet", self.look, _POLL_SECONDS)

    def start(self) -> None:
        """Follow EC2 from now on."""
        self._beat.start()

    def stop(self) -> None:
        self._beat.stop()

    def look(self) -> None:
        """Bring the machines in line with what EC2 says once."""
        states = {}
        for instance in infrastructure.instances_of(self._aws, self._site):
            states[instance["InstanceId"]] = state = instance["State"]["Name"]
            is_new = self.room.find(instance["InstanceId"]) is None
            if state == "running" and is_new and self._has_booted(instance["InstanceId"]):
                self._boot(instance)
        for machine in self.room:
            state = states.get(machine.instance_id, "terminated")  # EC2 forgets an instance some time after its end
            if state in _OFF and not machine.is_gone:
                self.power_off(machine)
                machine.is_gone = state in _GONE
            if machine.instance_id in self._frozen_since and not machine.is_gone:
                self._find_out(machine.instance_id)
            if machine.is_on and not self._agents.is_running(machine.agent):
                self.start_agent(machine)
            self._come_back(machine)

    def _come_back(self, machine: Machine) -> None:
        """Let GPUs that were reset work again, and the device plugin offer them."""
        back = machine.broken_gpus & set(machine.gpu_tools.new_resets())
        if back:
            machine.broken_gpus -= back
            nodes.tell_status(self._kubernetes, machine)

    def _find_out(self, instance_id: str) -> None:
        """Let EC2's instance check fail, once the machine has hung long enough."""
        if time.monotonic() - self._frozen_since[instance_id] >= self._delays.impaired:
            del self._frozen_since[instance_id]
            self._aws.set_impaired(instance_id, instance=True)

    def _has_booted(self, instance_id: str) -> bool:
        since = self._running_since.setdefault(instance_id, time.monotonic())
        return self._is_first_fleet() or time.monotonic() - since >= self._delays.boot

    def _is_first_fleet(self) -> bool:
        return len(self.room) < self._site.size

    def _boot(self, instance: Mapping[str, Any]) -> None:
        folder = self._folder / instance["InstanceId"]
        folder.mkdir(parents=True, exist_ok=True)
        machine = Machine(
            instance_id=instance["InstanceId"],
            name=instance["PrivateDnsName"],
            instance_type=instance["InstanceType"],
            zone=instance["Placement"]["AvailabilityZone"],
            address=instance["PrivateIpAddress"],
            folder=folder,
            boot_id=str(uuid4()),
            kernel_log=KernelLog(folder / "kmsg"),
        )
        is_first = self._is_first_fleet()
        efa.make(machine.sysfs)
        cgroups.mount(machine.sysfs)
        machine.procfs.mkdir(exist_ok=True)
        machine.gpu_tools.install()
        self.room.add(machine)
        nodes.join(self._kubernetes, machine, is_verified=is_first)
        self.start_agent(machine)

    def start_agent(self, machine: Machine) -> None:
        """Start the machine's agent, as its service manager does at boot and after a crash."""
        machine.agent = self._agents.start(self._environment(machine), machine.folder / "agent.log")

    def kill_agent(self, machine: Machine) -> None:
        """SIGKILL, with nothing left to say. On a machine that is on, the next look starts it again."""
        if machine.agent is not None:
            self._agents.kill(machine.agent)

    def power_off(self, machine: Machine) -> None:
        """The machine is dark: no kubelet, no agent. EC2 may not know."""
        machine.is_on = False
        self.kill_agent(machine)

    def break_gpu(self, instance_id: str, *, gpu: int = 3, xid: int = 79) -> Fault:
        """Let this GPU fail: the driver prints the Xid, and a fatal one takes the GPU from the job."""
        machine = self.room.get(instance_id)
        at = self._kubernetes.now()
        if xid in _FATAL:
            machine.broken_gpus.add(gpu)
        machine.kernel_log.xid(gpu, xid)
        nodes.tell_status(self._kubernetes, machine)
        return Fault(instance_id, machine.name, gpu, xid, at)

    def lose_efa(self, instance_id: str, bus: str = efa.BUSES[1]) -> Fault:
        """Let one EFA device vanish: no collective that crosses the network goes on."""
        machine = self.room.get(instance_id)
        at = self._kubernetes.now()
        machine.lost_efa.add(bus)
        efa.lose(machine.sysfs, bus)
        return Fault(instance_id, machine.name, None, None, at, f"EFA device {efa.name_of(bus)} vanished")

    def freeze(self, instance_id: str) -> Fault:
        """Let the whole machine hang: agent and kubelet stop in the middle of a word, EC2 finds out after a while."""
        machine = self.room.get(instance_id)
        at = self._kubernetes.now()
        machine.is_on = False
        if machine.agent is not None:
            self._agents.kill(machine.agent, signal.SIGSTOP)
        self._frozen_since[instance_id] = time.monotonic()
        return Fault(instance_id, machine.name, None, None, at, "the machine hangs: no agent, no kubelet, no last word")

    def hang_rank(self, instance_id: str, ranks: Ranks) -> Fault:
        """Stop one rank in mid-step: its peers wait for it, and nothing says a word."""
        machine = self.room.get(instance_id)
        at = self._kubernetes.now()
        ranks.stop(machine.name)
        return Fault(instance_id, machine.name, None, None, at, "a rank hangs, and all others wait for it")

    def kill_rank_for_memory(self, instance_id: str, ranks: Ranks) -> Fault:
        """Let one rank's container hit its limit: the kernel kills it and counts that in its cgroup."""
        machine = self.room.get(instance_id)
        rank = ranks.of_node(machine.name)
        assert rank is not None
        at = self._kubernetes.now()
        ranks.kill(machine.name)
        cgroups.kill(machine.sysfs, rank.member.uid)
        what = f"a rank was killed at its container's limit of {cgroups.LIMIT_BYTES >> 30} GiB"
        return Fault(instance_id, machine.name, None, None, at, what)


# Xids after which the process on that GPU cannot go on and its peers hang in their collective.
_FATAL = frozenset({48, 79, 95})

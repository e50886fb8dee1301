"""Which sources this folder has on this node. Decides only what is wired to what."""

from collections.abc import Callable

from agent.fabric.efa.attached import efa_only_interfaces
from agent.fabric.efa.counts import at_most
from agent.fabric.efa.poll import EfaPresence, EfaTraffic
from agent.fabric.imex.ctl import ask_program
from agent.fabric.imex.poll import Imex
from agent.fabric.infiniband.poll import InfinibandPorts
from agent.identity import InstanceMetadata
from agent.settings import Settings
from agent.wiring import Run, Wiring
from policies.contract.vocabulary import Kind, Source

PRESENCE_SECONDS = 2.0  # one listing and a link for each device: cheap enough to be quick
# Each reading of counters is a command to the device's firmware (efa_get_hw_stats, mlx5_ib_get_hw_stats).
EFA_COUNTER_SECONDS, PORT_SECONDS = 15.0, 10.0
IMEX_SECONDS = 30.0  # two short processes; what they tell must last a minute anyway
# A command that gets no answer is given up by efa after 30 s (ADMIN_CMD_TIMEOUT_US), by mlx5 after 60 s.
DEADLINE_SECONDS = 30.0


_READING = (Kind.NETWORK_REGISTER_ACCESS_FAILED,)  # mlx5 reads its counters out of registers, and complains in the log


def sources(wiring: Wiring) -> dict[str, Run]:
    """Return what to run for each source, by the name that the log and the spool know it by."""
    settings = wiring.settings
    possible = at_most(wiring.node.instance_type or "")
    efa = EfaPresence(settings.sysfs, settings.efa_devices, possible, attached_interfaces(settings))
    traffic = EfaTraffic(settings.sysfs)
    ports = InfinibandPorts(settings.sysfs, settings.infiniband_ports_expected)
    imex = Imex(ask_program(settings.imex_ctl), settings.imex_config, wiring.node.instance_type or "")
    slow = DEADLINE_SECONDS
    return {
        "efa": wiring.poll("efa", efa, Source.EFA, every=PRESENCE_SECONDS),
        "efa_counters": wiring.poll("efa_counters", traffic, Source.EFA, every=EFA_COUNTER_SECONDS, deadline=slow),
        "infiniband": wiring.poll(
            "infiniband", ports, Source.INFINIBAND, every=PORT_SECONDS, deadline=slow, provokes=_READING
        ),
        "imex": wiring.poll("imex", imex, Source.IMEX, every=IMEX_SECONDS, deadline=slow),
    }


def attached_interfaces(settings: Settings) -> Callable[[], int | None]:
    """Return who tells how many interfaces are for EFA only: nobody where the settings say who this instance is."""
    if settings.instance_id:
        return lambda: None
    return lambda: efa_only_interfaces(InstanceMetadata(settings.metadata_endpoint))

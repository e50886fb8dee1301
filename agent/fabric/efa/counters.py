"""EFA's counters: what had to be sent again, what was dropped, and remotes that did not answer.

Decides by rates between two polls. A remote that is unresponsive or impaired accuses the remote, never this node; the
counters do not say which one it is, nor does anything else on this node but the log of the rank that waits for it
(libfabric prints "Peer host id").

Sources: EFA_DEFINE_PORT_STATS in efa_verbs.c of amzn-drivers (names); EC2 user guide, "Monitor an Elastic Fabric
Adapter" (meanings; Nitro v4 and later only, so a p4d has none of the last five). They are cumulative for the device and
outlive a reboot: only rises count. A port's state says nothing: the driver reports ACTIVE and LinkUp always
(efa_query_port).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.fabric.devices import CLASS, RdmaDevice
from agent.kernel_files import Number, Unread, entries, read_number
from agent.parsers.sighting import Sighting
from agent.polls.reading import Happened, Holds, Memory, NotMeasured, Reading, increase
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import Kind, Severity

COUNTERS = (
    *("tx_pkts", "rx_pkts", "rx_drops", "retrans_pkts", "retrans_timeout_events"),
    *("unresponsive_remote_events", "impaired_remote_conn_events"),
)
LASTS_SECONDS = 60.0
# AWS publishes no figure. Ours: one packet in a hundred, kept up for a minute of real traffic, is far above what many
# paths and congestion control leave (SRD resends by design), and slows collectives.
PERCENT, AT_LEAST_PACKETS = 1.0, 10_000
_RATES = (
    ("retrans_pkts", "tx_pkts", "retransmits", "sent again"),
    ("rx_drops", "rx_pkts", "receive_drops", "dropped on arrival"),
)
_REMOTES = (
    ("unresponsive_remote_events", "unresponsive", Severity.ERROR, "did not answer"),
    ("impaired_remote_conn_events", "impaired", Severity.WARNING, "was impaired and is sent to at a lower rate"),
)
_KINDS = frozenset({Kind.NETWORK_EFA_ERRORS, Kind.NETWORK_PEER_UNRESPONSIVE})


@dataclass(frozen=True, slots=True)
class EfaCounters:
    """One device's counters, summed over its ports (there is one)."""

    device: RdmaDevice
    values: Mapping[str, Number]


def read_counters(sysfs: Path, device: RdmaDevice) -> EfaCounters:
    """Read the counters of *device*; one that is not there is None, one that cannot be read is Unread."""
    ports = sysfs / CLASS / device.name / "ports"
    try:
        folders = [ports / port / "hw_counters" for port in entries(ports)]
    except OSError as error:
        return EfaCounters(device, dict.fromkeys(COUNTERS, Unread(str(error))))
    return EfaCounters(device, {name: _sum([read_number(folder / name) for folder in folders]) for name in COUNTERS})


def _sum(numbers: Sequence[Number]) -> Number:
    unread = next((number for number in numbers if isinstance(number, Unread)), None)
    known = [number for number in numbers if isinstance(number, int)]
    return unread or (sum(known) if known else None)


def judge_counters(looks: Sequence[EfaCounters], memory: Memory) -> list[Reading]:
    """Return what rose too fast, and what could not be read; a device that is gone is neither well nor ill."""
    components: dict[str, dict[str, object]] = memory.setdefault("devices", {})
    here = {look.device.key for look in looks}
    readings: list[Reading] = [
        NotMeasured(_KINDS, Component.model_validate(told)) for key, told in components.items() if key not in here
    ]
    for look in looks:
        components[look.device.key] = look.device.component.model_dump(mode="json", exclude_none=True)
        readings += _judge(look, memory)
    return readings


def _judge(look: EfaCounters, memory: Memory) -> list[Reading]:
    device = look.device
    if any(isinstance(value, Unread) for value in look.values.values()):
        return [NotMeasured(_KINDS, device.component)]
    rises = {
        name: increase(memory, f"{device.key}/{name}", value)
        for name, value in look.values.items()
        if isinstance(value, int)
    }
    readings: list[Reading] = []
    for counter, of, reason, words in _RATES:
        if counter in rises and rises.get(of, 0) >= AT_LEAST_PACKETS:
            percent = round(100 * rises[counter] / rises[of], 2)
            if percent >= PERCENT:
                readings.append(_rate(device, reason, percent, f"{percent} % of packets were {words}"))
    for counter, reason, severity, words in _REMOTES:
        if rises.get(counter, 0):
            readings.append(_remote(device, severity, reason, rises[counter], f"a remote of {device.name} {words}"))
    return readings


def _rate(device: RdmaDevice, reason: str, percent: float, text: str) -> Holds:
    attributes: dict[str, Scalar] = {"device": device.name, "reason": reason, "percent": percent}
    sighting = Sighting(Kind.NETWORK_EFA_ERRORS, Severity.WARNING, device.component, attributes)
    return Holds(sighting, f"{device.name}: {text}", after=LASTS_SECONDS, cleared_after=LASTS_SECONDS)


def _remote(device: RdmaDevice, severity: Severity, reason: str, count: int, text: str) -> Happened:
    attributes = {"device": device.name, "reason": reason}
    return Happened(Sighting(Kind.NETWORK_PEER_UNRESPONSIVE, severity, device.component, attributes), text, count)

"""Error counters of ports, by how fast they rise: what no healthy link shows.

Decides by the table below. It must not know how counters are read.

Sources: [IBTA] a link's bit errors stay below 1e-12, 120 symbol errors an hour at most (Oracle, "Determine Which Links
Are Experiencing Significant Errors", 820-7751, which cites the specification); [NVS] NVSentinel's NIC monitor, "Link
Counter Detection", of 2026: rates above which it calls a link degraded. Links of four levels (HDR, NDR, XDR; 200 Gb/s
and more on Ethernet) always have symbol errors, so theirs are a matter of rate.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.fabric.infiniband.ports import Port
from agent.fabric.rises import risen
from agent.kernel_files import Unread
from agent.parsers.sighting import Sighting
from agent.polls.reading import Holds, Instant, Memory, NotMeasured, Reading
from policies.contract.events import Scalar
from policies.contract.vocabulary import Kind, Severity

FOUR_LEVELS_GIGABITS = 200.0  # HDR is the first, at 50 Gb/s a lane
_MINUTE, _TEN_MINUTES, _HOUR = 60.0, 600.0, 3600.0


@dataclass(frozen=True, slots=True)
class Limit:
    """The *counter* rose by *rise* or more within so many seconds."""

    counter: str
    rise: int
    within: float
    severity: Severity = Severity.WARNING


_NRZ_SYMBOLS = Limit("symbol_error", 120, _HOUR)  # [IBTA]
_PAM4_SYMBOLS = Limit("symbol_error", 600, _MINUTE)  # [NVS] 10 a second
LIMITS = (
    # Both say by their definition that the link is outside of what it may be; [NVS] any is fatal.
    Limit("local_link_integrity_errors", 1, _TEN_MINUTES, Severity.ERROR),
    Limit("excessive_buffer_overrun_errors", 1, _TEN_MINUTES, Severity.ERROR),
    Limit("link_error_recovery", 6, _MINUTE),  # [NVS] more than 5 a minute
    Limit("port_rcv_errors", 600, _MINUTE),  # [NVS] 10 a second
    Limit("port_xmit_discards", 6000, _MINUTE),  # [NVS] 100 a second
    Limit("local_ack_timeout_err", 60, _MINUTE),  # [NVS] 1 a second; a remote that died does this, too
    Limit("roce_slow_restart", 600, _MINUTE),  # [NVS] 10 a second
    # No vendor gives figures for these: packets that were lost, 100 a second, as for discards.
    Limit("out_of_sequence", 6000, _MINUTE),
    Limit("packet_seq_err", 6000, _MINUTE),
    Limit("roce_adp_retrans", 6000, _MINUTE),
)
_KINDS = frozenset({Kind.NETWORK_PORT_ERRORS})


def judge_errors(ports: Sequence[Port], memory: Memory, now: Instant) -> list[Reading]:
    """Return the counters that rose too fast, and the ports of which some could not be read."""
    return [reading for port in ports for reading in _judge(port, memory, now)]


def _judge(port: Port, memory: Memory, now: Instant) -> list[Reading]:
    counters = port.counters or {}
    symbols = _PAM4_SYMBOLS if (port.gigabits or 0.0) >= FOUR_LEVELS_GIGABITS else _NRZ_SYMBOLS
    readings: list[Reading] = []
    if any(isinstance(value, Unread) for value in counters.values()):
        readings.append(NotMeasured(_KINDS, port.component))
    for limit in (symbols, *LIMITS):
        value = counters.get(limit.counter)
        if not isinstance(value, int):
            continue
        rise = risen(memory, f"{port.key}/{limit.counter}", value, now, limit.within)
        if rise >= limit.rise:
            readings.append(_holds(port, limit, rise))
    return readings


def _holds(port: Port, limit: Limit, rise: int) -> Holds:
    attributes: dict[str, Scalar] = {
        "device": port.device.name,
        "port": port.number,
        "reason": limit.counter,
        "rise": rise,
        "within_seconds": int(limit.within),
    }
    sighting = Sighting(Kind.NETWORK_PORT_ERRORS, limit.severity, port.component, attributes)
    return Holds(sighting, f"{limit.counter} of {port.device.name} rose by {rise} within {limit.within:.0f} s")

"""Reads the ports of InfiniBand and RoCE adapters from sysfs: states, rate, counters. EFA is not among them.

Decides what is read, and nothing of what it means. A read asks the adapter's firmware, and an adapter that is ill can
take seconds to answer each (a command of mlx5 times out after 60 s, drivers/net/ethernet/mellanox/mlx5/core/cmd.c).
What lies in a module's EEPROM is not read: a module without one makes the kernel complain.

Sources: Documentation/ABI/stable/sysfs-class-infiniband; drivers/infiniband/core/sysfs.c (state_show, phys_state_show,
rate_show, and how wide each counter is); mlx5's hw_counters (drivers/infiniband/hw/mlx5/counters.c).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agent.fabric.devices import CLASS, RdmaDevice
from agent.kernel_files import Number, Unread, entries, link_name, read_number, read_text, read_word
from policies.contract.events import Component

DOWN, INIT, ARMED, ACTIVE, ACTIVE_DEFER = 1, 2, 3, 4, 5  # enum ib_port_state
DISABLED = 3  # enum ib_port_phys_state
COUNTERS = (
    *("symbol_error", "link_error_recovery", "link_downed", "port_rcv_errors"),
    *("local_link_integrity_errors", "excessive_buffer_overrun_errors", "port_xmit_discards"),
)
HW_COUNTERS = (
    *("out_of_sequence", "packet_seq_err", "local_ack_timeout_err", "roce_adp_retrans", "roce_slow_restart"),
    "rnr_nak_retry_err",
)
# PORT_PMA_ATTR in sysfs.c: a counter of so many bits stays at its largest value, and then tells nothing any more.
_FULL = {
    "symbol_error": (1 << 16) - 1,
    "link_error_recovery": (1 << 8) - 1,
    "link_downed": (1 << 8) - 1,
    "port_rcv_errors": (1 << 16) - 1,
    "local_link_integrity_errors": (1 << 4) - 1,
    "excessive_buffer_overrun_errors": (1 << 4) - 1,
    "port_xmit_discards": (1 << 16) - 1,
}
_CODE = re.compile(r"([0-9]{1,3}): *([A-Za-z_ ]{0,32})")
_RATE = re.compile(r"([0-9]{1,5}(?:\.[0-9]{1,3})?) Gb/sec(?: \(([0-9]{1,2})X(?: ([A-Z0-9]{2,8}))?\))?")


@dataclass(frozen=True, slots=True)
class State:
    """What ``4: ACTIVE`` or ``5: LinkUp`` say; code 0 is one that was not understood."""

    code: int
    name: str


@dataclass(frozen=True, slots=True)
class Port:
    """One port as it is now. ``state`` None: not readable. ``gigabits`` a second; ``speed`` is SDR to XDR."""

    device: RdmaDevice
    number: int
    state: State | None
    physical: State | None = None
    gigabits: float | None = None
    speed: str = ""
    layer: str = ""
    model: str = ""
    is_one_of_many: bool = False  # its device has more ports
    counters: Mapping[str, Number] | None = None

    @property
    def key(self) -> str:
        """What tells it from the others of this node."""
        return f"{self.device.key}/{self.number}"

    @property
    def component(self) -> Component:
        """The adapter, and which of its ports if there are several."""
        adapter = self.device.component
        return adapter.model_copy(update={"link": self.number}) if self.is_one_of_many else adapter

    @property
    def is_active(self) -> bool:
        """Whether traffic can pass."""
        return self.state is not None and self.state.code in {ACTIVE, ACTIVE_DEFER}

    @property
    def is_disabled(self) -> bool:
        """Whether an operator switched it off."""
        return self.physical is not None and self.physical.code == DISABLED


def read_ports(sysfs: Path, device: RdmaDevice) -> list[Port]:
    """Return the ports of *device*; OSError when they cannot be listed."""
    folder = sysfs / CLASS / device.name
    numbers = [int(name) for name in entries(folder / "ports") if name.isascii() and name.isdigit() and len(name) < 4]  # noqa: PLR2004 - a port has at most three digits
    model = read_word(folder / "hca_type") or ""
    return [_port(folder, device, number, model=model, many=len(numbers) > 1) for number in sorted(numbers)]


def _port(folder: Path, device: RdmaDevice, number: int, *, model: str, many: bool) -> Port:
    port = folder / "ports" / str(number)
    rate = _RATE.fullmatch(read_word(port / "rate") or "")
    counters = {name: _unless_full(name, read_number(port / "counters" / name)) for name in COUNTERS}
    counters |= {name: read_number(port / "hw_counters" / name) for name in HW_COUNTERS}
    return Port(
        device,
        number,
        state=_state(port / "state"),
        physical=_state(port / "phys_state"),
        gigabits=float(rate[1]) if rate else None,
        speed=(rate[3] or "") if rate else "",
        layer=read_word(port / "link_layer") or "",
        model=model,
        is_one_of_many=many,
        counters=counters,
    )


def _state(path: Path) -> State | None:
    try:
        text = read_text(path)
    except OSError:
        return None
    if text is None:
        return None
    match = _CODE.fullmatch(text)
    return State(int(match[1]), match[2]) if match else State(0, text[:32])


def _unless_full(name: str, number: Number) -> Number:
    return Unread(f"it stays at {number}") if isinstance(number, int) and number == _FULL.get(name) else number


def is_physical(sysfs: Path, device: RdmaDevice) -> bool:
    """Tell whether *device* is an adapter of its own: neither a function of another's nor made of software."""
    function = sysfs / CLASS / device.name / "device"
    return function.exists() and link_name(function / "physfn") is None


def function_of(sysfs: Path, device: RdmaDevice) -> tuple[bool, str]:
    """Return whether the PCI function of *device* is on the bus, and which driver holds it ("" for none)."""
    if device.pci is None:
        return False, ""
    function = sysfs / "bus/pci/devices" / f"{device.pci}.{device.function}"
    return function.exists(), link_name(function / "driver") or ""

"""EFA devices that are no more: against those seen before in this boot, those on the PCI bus, those attached.

Decides which devices should be here. How many the instance type could have says nothing: fewer may be on purpose. It
must not know where the looks come from.

An EFA cannot be attached to, or detached from, a running instance (EC2 user guide, "Attach an EFA"), so one that was
here and is not is a fault; only a reload of the driver takes it away for a moment, hence the second look.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.fabric.devices import RdmaDevice
from agent.parsers.pci import normalise_pci
from agent.parsers.sighting import NODE, Sighting
from agent.polls.reading import Holds, Memory, NotMeasured, Reading
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import Kind, Persistence, Severity

SECOND_LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class EfaLook:
    """What is here now. None: not known.

    ``functions``: addresses of EFA's PCI functions. ``attached``: interfaces that must have a device. ``asked``: how
    many the operator says there are, 0 for none said. ``exclusive``: a device may be in a container's namespace.
    """

    devices: Sequence[RdmaDevice]
    functions: frozenset[str] | None = None
    attached: int | None = None
    asked: int = 0
    exclusive: bool = False


def note_seen(look: EfaLook, memory: Memory) -> dict[str, str | None]:
    """Add the devices of *look* to those that *memory* knows; return key -> name, None for one never registered."""
    seen: dict[str, str | None] = memory.setdefault("seen", {})
    for device in look.devices:
        seen[device.key] = device.name
    if look.devices:  # with none registered the driver is not meant to run here, or comes later in the boot
        for address in look.functions or ():
            seen.setdefault(address, None)
    return seen


def judge_presence(look: EfaLook, memory: Memory) -> list[Reading]:
    """Return a condition for each device that is missing, and one for what is missing and nobody can name."""
    seen = note_seen(look, memory)
    here = {device.key for device in look.devices}
    expected = max(len(seen), look.attached or 0, look.asked)
    readings: list[Reading] = []
    for key in sorted(seen.keys() - here):
        elsewhere = look.exclusive and key in (look.functions or ())
        readings.append(NotMeasured(_MISSING, _component(key)) if elsewhere else _named(key, seen[key], look, expected))
    if expected > len(seen) and not look.exclusive:
        readings.append(_unnamed(look, expected))
    return readings


def _named(key: str, name: str | None, look: EfaLook, expected: int) -> Holds:
    pci = normalise_pci(key)
    notes: dict[str, Scalar] = {"expected": expected, "found": len(look.devices), "device": name or key}
    if pci and look.functions is not None:
        notes["on_pci_bus"] = pci in look.functions
    how = "is gone" if name else "was never registered"
    text = f"EFA device {name or key} {how}: {len(look.devices)} of {expected} are here"
    return _holds(Sighting(*_WHAT, _component(key), notes, Persistence.PERMANENT), text, name)


def _unnamed(look: EfaLook, expected: int) -> Holds:
    notes: dict[str, Scalar] = {"expected": expected, "found": len(look.devices)}
    text = f"{len(look.devices)} of {expected} EFA devices are here"
    return _holds(Sighting(*_WHAT, NODE, notes, Persistence.PERMANENT), text, None)


def _component(key: str) -> Component:
    return RdmaDevice(key, normalise_pci(key), is_efa=True).component


_MISSING = frozenset({Kind.NETWORK_EFA_MISSING})
_WHAT = (Kind.NETWORK_EFA_MISSING, Severity.ERROR)


def _holds(sighting: Sighting, text: str, name: str | None) -> Holds:
    # While a node boots a driver may still be at work on devices that it never showed; one that it showed must stay.
    return Holds(sighting, text, after=SECOND_LOOK_SECONDS, in_boot=name is not None)

"""How PCI addresses are printed, and the one way we write them: ``dddd:bb:dd``, lower case, no function.

Shapes: ``0000:4b:00`` and ``0000:4b:00.0`` (driver, kernel), ``00000000:B3:00.0`` (nvidia-smi, Fabric Manager: eight
digits of domain), ``10000:e1:00.0`` (five, behind a VMD), ``18:00.0`` (no domain, as lspci prints domain 0). It must
not know what sits at an address.
"""

import re

ADDRESS = r"(?:[0-9A-Fa-f]{4,8}:)?[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}(?:\.[0-9A-Fa-f])?"
_PARTS = re.compile(r"(?:([0-9A-Fa-f]{4,8}):)?([0-9A-Fa-f]{2}):([0-9A-Fa-f]{2})(?:\.[0-9A-Fa-f])?")


def normalise_pci(text: str) -> str | None:
    """Return *text* as ``dddd:bb:dd``, or None when it is no PCI address."""
    match = _PARTS.fullmatch(text.strip())
    if match is None:
        return None
    domain, bus, device = match.groups()
    return f"{int(domain or '0', 16):04x}:{bus.lower()}:{device.lower()}"

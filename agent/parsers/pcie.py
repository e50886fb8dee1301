"""PCI Express errors that the root ports report (advanced error reporting).

Forms (drivers/pci/pcie/aer.c, aer_print_port_info and aer_print_error; older and newer wordings):

    pcieport 0000:89:03.0: AER: Multiple Uncorrected (Fatal) error received: 0000:89:03.0
    pcieport 0000:75:03.1: AER: Correctable error message received from 0000:75:00.0
    pcieport 0000:83:03.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Requester ID)

The component is the device named as the origin, else the one that speaks. It must not know what sits behind a port.
"""

import re

from agent.parsers.pci import ADDRESS, normalise_pci
from agent.parsers.sighting import Sighting
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Severity

_AER = re.compile(
    rf"(?:\b({ADDRESS}): )?(?:AER: (?:Multiple )?(Uncorrect(?:ed|able)|Correct(?:ed|able)) ?(\((?:Non-)?Fatal\))? error"
    rf"(?: message)? received(?:: | from )({ADDRESS})?"
    rf"|PCIe Bus Error: severity=(Uncorrect(?:ed|able)|Correct(?:ed|able)) ?(\((?:Non-)?Fatal\))?)"
)


def parse_pcie(text: str) -> list[Sighting]:
    """Return what *text* says of a PCI Express link, at most one error."""
    match = _AER.search(text) if "AER: " in text or "PCIe Bus Error" in text else None
    if match is None:
        return []
    speaker, seen, seen_fatal, origin, told, told_fatal = match.groups()
    component = Component(type=ComponentType.PCIE, pci=normalise_pci(origin or speaker or ""))
    if (seen or told).startswith("Correct"):
        return [Sighting(Kind.PCIE_CORRECTED, Severity.WARNING, component)]
    fatal = (seen_fatal or told_fatal) == "(Fatal)"
    attributes: dict[str, Scalar] = {"fatal": fatal}
    severity = Severity.CRITICAL if fatal else Severity.ERROR
    return [Sighting(Kind.PCIE_UNCORRECTED, severity, component, attributes)]

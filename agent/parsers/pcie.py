"""PCI Express errors that the root ports report (advanced error reporting, downstream port containment).

Forms (drivers/pci/pcie/aer.c, aer_print_port_info and aer_print_error, in the wordings of 3.x, 5.x and 6.x; dpc.c):

    pcieport 0000:00:1c.0: AER: Multiple Corrected error received: id=00e0
    pcieport 0000:89:03.0: AER: Multiple Uncorrected (Fatal) error received: 0000:89:03.0
    pcieport 0000:75:03.1: AER: Correctable error message received from 0000:75:00.0
    pcieport 0000:83:03.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Requester ID)
    pcieport 0000:83:03.0: DPC: containment event, status:0x1f01 source:0x0000

The component is the device named as the origin, else the one that speaks. What recovery says afterwards (successful,
failed, no callback) is about the same error. It must not know what sits behind a port.
"""

import re

from agent.parsers.pci import ADDRESS, normalise_pci
from agent.parsers.sighting import LineParser, Sighting
from policies.contract.catalog.nvlink5 import DriverLayout
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Severity

_WORD = r"(Uncorrect(?:ed|able)|Correct(?:ed|able)) ?(\((?:Non-)?Fatal\))?"
_AER = re.compile(
    rf"(?:(?<![\w:])({ADDRESS}): )?(?:AER: (?:Multiple )?{_WORD} error"
    rf"(?: message)? received(?:: | from )?({ADDRESS})?"
    rf"|(?:AER: )?PCIe Bus Error: severity={_WORD})"
)
_CONTAINED = re.compile(rf"(?:(?<![\w:])({ADDRESS}): )?DPC: containment event")


def _parse(text: str, _layout: DriverLayout | None = None) -> list[Sighting]:
    if match := _AER.search(text):
        speaker, seen, seen_fatal, origin, told, told_fatal = match.groups()
        component = Component(type=ComponentType.PCIE, pci=normalise_pci(origin or speaker or ""))
        if (seen or told).startswith("Correct"):
            return [Sighting(Kind.PCIE_CORRECTED, Severity.WARNING, component)]
        return [_uncorrected(component, fatal=(seen_fatal or told_fatal) == "(Fatal)")]
    if match := _CONTAINED.search(text):
        component = Component(type=ComponentType.PCIE, pci=normalise_pci(match[1] or ""))
        return [_uncorrected(component, fatal=True)]  # the port has cut the device off
    return []


def _uncorrected(component: Component, *, fatal: bool) -> Sighting:
    attributes: dict[str, Scalar] = {"fatal": fatal}
    return Sighting(Kind.PCIE_UNCORRECTED, Severity.CRITICAL if fatal else Severity.ERROR, component, attributes)


PCIE = LineParser(_parse, ("AER: ", "PCIe Bus Error", "DPC: "))

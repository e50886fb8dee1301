"""What NVIDIA's driver says of a GPU without an Xid: lost, not started, mismatched, reset.

It must not know Xids: where one stands in the same record, the Xid tells it better and this says nothing.
"""

import re

from agent.parsers.pci import ADDRESS, normalise_pci
from agent.parsers.sighting import LineParser, Sighting
from policies.contract.catalog.nvlink5 import DriverLayout
from policies.contract.catalog.xid import occurrence_of_loss
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Persistence, Severity

_GPU = Component(type=ComponentType.GPU)

# Printed at probe (open-gpu-kernel-modules, kernel-open/nvidia/nv-pci.c and nv.c), one record of several lines:
#   NVRM: The NVIDIA GPU 0000:24:00.0
#   NVRM: (PCI ID: 10de:26b5) installed in this system has
#   NVRM: fallen off the bus and is not responding to commands.
_LOST = re.compile(r"(?:NVRM: (?:GPU has )?|in this system has )fallen off the bus")
_LOST_ADDRESS = re.compile(rf"NVRM: The NVIDIA GPU ({ADDRESS})")

#   NVRM: GPU 0000:69:00.0: rm_init_adapter failed, device minor number 0
#   NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x22:0x56:894)
#   NVRM: rm_init_adapter failed for device bearing minor number 0        (before R440)
#   NVRM: The NVIDIA probe routine failed for 1 device(s).
#   NVRM: None of the NVIDIA devices were initialized.
#   nvidia: probe of 0000:3b:00.0 failed with error -1                    (drivers/base/dd.c; before 6.8)
#   nvidia 0000:3b:00.0: probe with driver nvidia failed with error -1    (since)
#   NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:
_INIT = re.compile(
    rf"NVRM: (?:GPU (?:at )?(?:PCI:)?({ADDRESS}): )?(?:rm_init_adapter|RmInitAdapter) failed"
    r"|NVRM: The NVIDIA probe routine failed for [0-9]{1,4} device"
    r"|NVRM: None of the NVIDIA (?:devices|graphics adapters) were initialized"
    rf"|\bnvidia: probe of ({ADDRESS}) failed with error"
    rf"|\bnvidia ({ADDRESS}): probe with driver nvidia failed with error"
    r"|NVRM: This PCI I/O region assigned to your NVIDIA device is invalid"
)

# src/nvidia/arch/nvalloc/unix/src/osapi.c, rm_perform_version_check; old, R5xx and R58x:
#   NVRM: API mismatch: the client has the version 535.54.03, but
#   NVRM: this kernel module has the version 530.30.02.  Please
#   NVRM: API mismatch: the client 'nvidia-smi' (pid 1234)
#   NVRM: has the version 580.95.05, but this kernel module has
#   NVRM: the version 580.82.07.
#   NVRM: API mismatch: the NVIDIA kernel module has version 410.48,
#   NVRM: but this NVIDIA driver component has version 410.79.  Please make
_MISMATCH = re.compile(r"NVRM: API mismatch: ")
_VERSION = re.compile(
    r"\b(client|component|kernel module)[^\n]{0,60}? (?:NVRM: )?has (?:NVRM: )?(?:the )?version ([0-9.]{1,24})"
)

#   nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing
# (kernel-open/nvidia-peermem/nvidia-peermem.c; the memory registration with the NIC was torn down wrongly)
_PEERMEM = re.compile(r"nvidia-peermem:? \w{1,64}:[0-9]{1,6}:? ERROR detected invalid context")

#   GPU reset executed: GPU-123, success: true        (NVSentinel's and gpud's reset helpers)
_RESET = re.compile(r"GPU reset executed: (GPU-[0-9a-zA-Z-]{1,64}), success: true")


def _parse(text: str, _layout: DriverLayout | None = None) -> list[Sighting]:
    if "NVRM: " in text or "nvidia" in text:
        return _lost(text) + _init_failed(text) + _mismatch(text) + _peermem(text)
    if match := _RESET.search(text):
        return [Sighting(Kind.GPU_RESET, Severity.INFO, Component(type=ComponentType.GPU, uuid=match[1]))]
    return []


def _lost(text: str) -> list[Sighting]:
    if "Xid (" in text or not _LOST.search(text):
        return []
    address = _LOST_ADDRESS.search(text)
    pci = normalise_pci(address[1]) if address else None
    attributes: dict[str, Scalar] = {"occurrence": occurrence_of_loss(pci)} if pci else {}
    component = Component(type=ComponentType.GPU, pci=pci)
    return [Sighting(Kind.GPU_LOST, Severity.CRITICAL, component, attributes, Persistence.PERMANENT)]


def _init_failed(text: str) -> list[Sighting]:
    match = _INIT.search(text)
    if match is None or _LOST.search(text):
        return []
    address = next((group for group in match.groups() if group), None)
    component = Component(type=ComponentType.GPU, pci=normalise_pci(address) if address else None)
    return [Sighting(Kind.GPU_INIT_FAILED, Severity.CRITICAL, component, persistence=Persistence.PERMANENT)]


def _mismatch(text: str) -> list[Sighting]:
    match = _MISMATCH.search(text)
    if match is None:
        return []
    versions: dict[str, Scalar] = {}
    said = " ".join(text[match.end() : match.end() + 400].split())
    for who, version in _VERSION.findall(said):
        versions.setdefault("module_version" if who == "kernel module" else "client_version", version.rstrip("."))
    return [Sighting(Kind.GPU_DRIVER_MISMATCH, Severity.ERROR, _GPU, versions, Persistence.PERMANENT)]


def _peermem(text: str) -> list[Sighting]:
    return [Sighting(Kind.GPU_PEERMEM_FAILED, Severity.ERROR, _GPU)] if _PEERMEM.search(text) else []


GPU = LineParser(
    _parse,
    (
        "fallen off the bus",
        " failed",
        "the NVIDIA ",
        "your NVIDIA ",
        "The NVIDIA ",
        "API mismatch",
        "ERROR detected",
        "GPU reset",
    ),
)

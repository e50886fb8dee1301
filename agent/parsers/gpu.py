"""What NVIDIA's driver says of a GPU without an Xid: lost, not started, mismatched, reset.

It must not know Xids: where one stands in the same record, the Xid tells it better and this says nothing.
"""

import re

from agent.parsers.pci import ADDRESS, normalise_pci
from agent.parsers.sighting import Sighting
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Persistence, Severity

_GPU = Component(type=ComponentType.GPU)

# Printed at probe (open-gpu-kernel-modules, kernel-open/nvidia/nv-pci.c and nv.c), one record of several lines:
#   NVRM: The NVIDIA GPU 0000:24:00.0
#   NVRM: (PCI ID: 10de:26b5) installed in this system has
#   NVRM: fallen off the bus and is not responding to commands.
_LOST = re.compile(r"NVRM: (?:GPU has )?fallen off the bus")
_LOST_ADDRESS = re.compile(rf"NVRM: The NVIDIA GPU ({ADDRESS})")

#   NVRM: GPU 0000:69:00.0: rm_init_adapter failed, device minor number 0
#   NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x22:0x56:894)
_INIT = re.compile(rf"NVRM: (?:GPU ({ADDRESS}): )?(?:rm_init_adapter|RmInitAdapter) failed")

#   NVRM: API mismatch: the client has the version 535.54.03, but
#   NVRM: this kernel module has the version 530.30.02.  Please
_MISMATCH = re.compile(r"NVRM: API mismatch: the (?:client|NVIDIA kernel module) has (?:the )?version ([0-9.]{1,24})")
_MODULE = re.compile(r"kernel module has the version ([0-9.]{1,24}?)\.?(?:\s|$)")

#   nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing
# (kernel-open/nvidia-peermem/nvidia-peermem.c; the memory registration with the NIC was torn down wrongly)
_PEERMEM = re.compile(r"nvidia-peermem \w{1,64}:[0-9]{1,6}:? ERROR detected invalid context")

#   GPU reset executed: GPU-123, success: true        (NVSentinel's and gpud's reset helpers)
_RESET = re.compile(r"GPU reset executed: (GPU-[0-9a-zA-Z-]{1,64}), success: true")


def parse_gpu(text: str) -> list[Sighting]:
    """Return what the driver says of a GPU beside Xids."""
    if "NVRM" in text:
        return _lost(text) + _init_failed(text) + _mismatch(text)
    if "nvidia-peermem" in text and _PEERMEM.search(text):
        return [Sighting(Kind.GPU_PEERMEM_FAILED, Severity.ERROR, _GPU)]
    if match := _RESET.search(text):
        return [Sighting(Kind.GPU_RESET, Severity.INFO, Component(type=ComponentType.GPU, uuid=match[1]))]
    return []


def _lost(text: str) -> list[Sighting]:
    if "NVRM: Xid (" in text or not _LOST.search(text):
        return []
    address = _LOST_ADDRESS.search(text)
    component = Component(type=ComponentType.GPU, pci=normalise_pci(address[1]) if address else None)
    return [Sighting(Kind.GPU_LOST, Severity.CRITICAL, component, persistence=Persistence.PERMANENT)]


def _init_failed(text: str) -> list[Sighting]:
    match = _INIT.search(text)
    if match is None:
        return []
    component = Component(type=ComponentType.GPU, pci=normalise_pci(match[1]) if match[1] else None)
    return [Sighting(Kind.GPU_INIT_FAILED, Severity.CRITICAL, component, persistence=Persistence.PERMANENT)]


def _mismatch(text: str) -> list[Sighting]:
    client = _MISMATCH.search(text)
    if client is None:
        return []
    module = _MODULE.search(text)
    versions: dict[str, Scalar] = {"client_version": client[1].rstrip(".")}
    if module:
        versions["module_version"] = module[1]
    return [Sighting(Kind.GPU_DRIVER_MISMATCH, Severity.ERROR, _GPU, versions, Persistence.PERMANENT)]

"""One look at a node's GPUs, as plain values: what the driver says, and None where it says nothing.

A value is None where the part has no such thing, the driver is too old to tell, or the call failed: who judges says
"not measured", never "well". Decides nothing. It must not know how it was read, nor what is a fault.
"""

from dataclasses import dataclass

# Return codes of NVML that say something of a GPU or its driver (nvml.h, nvmlReturn_t).
UNINITIALIZED, NOT_SUPPORTED, NO_PERMISSION, NOT_FOUND = 1, 3, 4, 6
INSUFFICIENT_POWER, DRIVER_NOT_LOADED, IRQ_ISSUE, LIBRARY_NOT_FOUND = 7, 9, 11, 12
CORRUPTED_INFOROM, GPU_IS_LOST, RESET_REQUIRED, LIB_RM_VERSION_MISMATCH = 14, 15, 16, 18
GPU_NOT_FOUND, UNKNOWN = 28, 999


@dataclass(frozen=True, slots=True)
class Link:
    """One NVLink. ``active`` None: its state could not be read. Counters count since the driver was loaded."""

    number: int
    active: bool | None
    replays: int | None = None
    recoveries: int | None = None
    crc: int | None = None
    failed_recoveries: int | None = None  # since Blackwell, which has none of the three above


@dataclass(frozen=True, slots=True)
class Fabric:
    """Where a GPU stands with the NVLink fabric: NVML's state, the status of the registration, the health mask."""

    state: int
    status: int
    health: int


@dataclass(frozen=True, slots=True)
class Detail:
    """What changes slowly, or costs more to ask. Temperatures and margins in degrees Celsius.

    ``margin`` is how far the GPU is below its limit (T.Limit); ``slowdown_margin`` is the margin at which the hardware
    slows it down. ``busy`` is the share of the last period in which a kernel ran, in percent.
    """

    ecc_corrected: int | None = None
    ecc_corrected_ever: int | None = None
    ecc_uncorrected_ever: int | None = None
    sram_exceeded: bool | None = None
    rows_remapped: int | None = None  # because of uncorrectable errors
    pages_retired: int | None = None  # because of double bit errors, before Ampere
    temperature: int | None = None
    slowdown_temperature: int | None = None
    margin: int | None = None
    slowdown_margin: int | None = None
    memory_temperature: int | None = None
    memory_limit: int | None = None
    width: int | None = None
    full_width: int | None = None
    generation: int | None = None
    full_generation: int | None = None
    pcie_replays: int | None = None
    busy: int | None = None
    links: tuple[Link, ...] = ()
    fabric: Fabric | None = None
    mig_instances: int = 0


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU. ``error`` is NVML's code where it could not be asked; then only what identifies it may be there.

    ``pci`` is ``dddd:bb:dd``. ``reasons`` is the mask of why clocks are low. ECC counts since the driver was loaded.
    """

    index: int
    uuid: str | None = None
    pci: str | None = None
    serial: str | None = None
    name: str | None = None
    error: int | None = None
    mig: bool = False
    reasons: int | None = None
    ecc_uncorrected: int | None = None
    ecc_uncorrected_dram: int | None = None
    remap_pending: bool | None = None
    remap_failed: bool | None = None
    retirement_pending: bool | None = None
    recovery_action: int | None = None
    detail: Detail | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """All GPUs at one moment. ``events_off`` says why the driver tells no events, if it does not.

    ``resting``: the GPUs are let go for a while, so that one can be reset; nothing was read.
    """

    gpus: tuple[Gpu, ...] = ()
    driver: str = ""
    events_off: str = ""
    resting: bool = False


@dataclass(frozen=True, slots=True)
class GpuEvent:
    """What the driver told unasked: ``type`` is NVML's bit; for an Xid, ``data`` is its code."""

    type: int
    data: int
    pci: str | None = None
    index: int | None = None
    uuid: str | None = None
    serial: str | None = None
    gpu_instance: int | None = None
    compute_instance: int | None = None

"""Faults of GPUs and fabric, each with all that agents say of it, and what the shipped policies make of that."""

from dataclasses import dataclass

from policies.contract.events import Component
from policies.contract.vocabulary import Action, ComponentType, Kind, Severity
from tests.tools.shipped_stories import B200, GB200, GPU, OTHER, P3, P5, Told, line, polled, xid

PROCESS = "pid=4711, name=python3, "
MEMORY = f"memory:{GPU}"
NIC = Component(type=ComponentType.NIC, pci="0000:60:00")
PORT = Component(type=ComponentType.NIC, pci="0000:9a:00")
LINK = Component(type=ComponentType.NVLINK, index=2, uuid="GPU-2", pci=GPU, link=14)
NODE = Component(type=ComponentType.NODE)


@dataclass(frozen=True)
class Fault:
    """One physical fault. ``fires`` are all policies that find something, ``by`` the one whose act leads."""

    says: str
    told: list[Told]
    fires: frozenset[str]
    by: str
    act: Action
    instance_type: str = P5


def _fault(says: str, told: list[Told], by: str, act: Action, *companions: str, instance_type: str = P5) -> Fault:
    return Fault(says, told, frozenset({by, *companions}), by, act, instance_type)


FAULTS = (
    _fault(
        "a contained memory error on Hopper",
        [
            *xid(94, f"{PROCESS}Contained: SM (0x1). RST: No, D-RST: No"),
            *xid(63, "Row Remapper: New row marked for remapping, reset gpu to activate.", after=0.2),
            *xid(45, f"{PROCESS}Ch 00000008, errorString CTX SWITCH TIMEOUT", after=0.4),
            *polled(Kind.GPU_ECC_UNCORRECTED, after=1.0, memory="dram", occurrence=MEMORY),
            *polled(Kind.GPU_ROW_REMAP_PENDING, Severity.WARNING, after=1.0, occurrence=MEMORY),
        ],
        "xid-94-contained-memory-error",
        Action.RESTART_PROCESS,
        *("xid-63-row-remap-pending", "xid-45-preempted", "gpu-uncorrected-ecc"),
    ),
    _fault(
        "the same, and the driver asks for a drain and a reset: it outranks its companion",
        [
            *xid(94, f"{PROCESS}Contained: SM (0x1). RST: No, D-RST: No"),
            *xid(154, "GPU recovery action changed from 0x0 (None) to 0x4 (Drain and Reset)", after=0.3),
            *polled(Kind.GPU_RECOVERY_ACTION, after=2.0, recovery_action=4, recovery="drain_and_reset"),
        ],
        "gpu-recovery-action-reset",
        Action.RESET_GPU,
        "xid-94-contained-memory-error",
    ),
    _fault(
        "a double bit error with all of its companions",
        [
            *xid(48, f"{PROCESS}DBE (double bit error) detected at some address"),
            *xid(63, "Row Remapper: New row marked for remapping, reset gpu to activate.", after=0.5),
            *xid(94, f"{PROCESS}Contained: SM (0x1). RST: No, D-RST: No", after=0.7),
            *xid(171, f"{PROCESS}uncorrectable DRAM error", after=0.8),
            *polled(Kind.GPU_ECC_UNCORRECTED, after=1.5, memory="dram", occurrence=MEMORY),
        ],
        "xid-48-double-bit-error",
        Action.RESET_GPU,
        *("xid-63-row-remap-pending", "xid-94-contained-memory-error", "gpu-uncorrected-ecc"),
        "xid-without-a-judgement",
    ),
    _fault(
        "a double bit error that was not contained",
        [
            *xid(48, f"{PROCESS}DBE (double bit error) detected at some address"),
            *xid(95, f"{PROCESS}Uncontained: LTC TAG (0x2,0x0). RST: Yes, D-RST: No", after=0.3),
            *xid(154, "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)", after=0.4),
        ],
        "xid-95-uncontained-memory-error",
        Action.RESET_GPU,
        *("xid-48-double-bit-error", "gpu-recovery-action-reset"),
    ),
    _fault(
        "a row that cannot be remapped",
        [
            *xid(64, "Row Remapper: Error recording of row remapping failed"),
            *polled(Kind.GPU_ROW_REMAP_FAILED, Severity.CRITICAL, after=2.0, occurrence=MEMORY),
        ],
        "xid-64-row-remap-failed",
        Action.RESET_GPU,
    ),
    _fault(
        "a line that says contained on Volta",
        xid(94, f"{PROCESS}Contained: SM (0x1)"),
        "xid-94-where-nothing-is-contained",
        Action.RESET_GPU,
        instance_type=P3,
    ),
    _fault(
        "three memory errors of one GPU within an hour",
        [each for at in (0.0, 900.0, 1800.0) for each in xid(94, f"{PROCESS}Contained: SM (0x1)", after=at)],
        "gpu-uncorrected-ecc-again",
        Action.REPLACE_NODE,
        "xid-94-contained-memory-error",
    ),
    _fault(
        "a GPU falls off the bus, its neighbours print 45, and NVML finds it no more",
        [
            *xid(79, "pid='<unknown>', name=<unknown>, GPU has fallen off the bus."),
            *line(f"NVRM: GPU {GPU}.0: GPU has fallen off the bus.", after=0.1),
            *xid(154, "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)", after=0.3),
            *xid(45, f"{PROCESS}Ch 00000008", pci=OTHER, after=1.0),
            *polled(Kind.GPU_LOST, Severity.CRITICAL, after=2.0, nvml_error=15, occurrence=f"bus:{GPU}"),
        ],
        "xid-79-fell-off-the-bus",
        Action.REPLACE_NODE,
        *("gpu-recovery-action-reboot", "xid-45-preempted"),
    ),
    _fault(
        "a GPU that does not start after a boot",
        [
            *line(f"NVRM: GPU {GPU}.0: RmInitAdapter failed! (0x22:0x56:894)"),
            *line(f"NVRM: GPU {GPU}.0: rm_init_adapter failed, device minor number 0", after=0.1),
            *xid(143, "GPU initialization error", after=0.2),
            *polled(Kind.GPU_INIT_FAILED, after=12.0, nvml_error=18),
        ],
        "xid-hardware-needs-reset",
        Action.RESET_GPU,
        "gpu-init-failed",
    ),
    _fault(
        "the GPU's system processor hangs, and a context with it",
        [
            *xid(119, f"{PROCESS}Timeout after 6s of waiting for RPC response from GPU0 GSP!"),
            *xid(109, f"{PROCESS}errorString CTX SWITCH TIMEOUT, Info 0x1a04a", after=5.0),
        ],
        "xid-119-gsp-does-not-answer",
        Action.RESET_GPU,
        "xid-109-context-switch-timeout",
    ),
    _fault(
        "the driver of a whole node hangs",
        [
            each
            for place, pci in enumerate((GPU, OTHER, "0000:64:00"))
            for each in xid(119, f"{PROCESS}Timeout after 6s of waiting for RPC response", pci=pci, after=place * 7.0)
        ],
        "xid-119-gsp-does-not-answer",
        Action.RESET_GPU,
        "xid-119-on-many-gpus",
    ),
    _fault(
        "a kernel of the program reads what is not its own",
        [
            *xid(31, f"{PROCESS}Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted"),
            *xid(43, f"{PROCESS}Ch 00000008", after=0.1),
            *xid(45, f"{PROCESS}Ch 00000009", after=0.2),
        ],
        "xid-application-errors",
        Action.RECORD,
        "xid-45-preempted",
    ),
    _fault(
        "one GPU fails under three jobs",
        [
            each
            for place, job in enumerate(("a/llama", "b/mixtral", "c/qwen"))
            for each in xid(13, f"{PROCESS}Graphics SM Warp Exception", after=place * 7200.0, job=job)
        ],
        "xid-application-errors-under-many-jobs",
        Action.ISOLATE,
        "xid-13-graphics-exception",
    ),
    _fault(
        "an NVLink of Hopper breaks, and both GPUs and NVML tell of it",
        [
            *xid(74, f"{PROCESS}NVLink: fatal error detected on link 14(0x100000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"),
            *xid(74, f"{PROCESS}NVLink: fatal error detected on link 2(0x0, 0x0, 0x10000, 0x0)", pci=OTHER, after=0.1),
            *polled(Kind.NVLINK_DOWN, component=LINK, after=11.0),
        ],
        "xid-74-nvlink-error",
        Action.RESET_GPU,
        "nvlink-down",
    ),
    _fault(
        "a port of an NVSwitch fails for good, and GPUs behind it tell of it",
        [
            *line("nvidia-nvswitch0: SXid (PCI:0000:38:00.0): 20034, Fatal, Link 30 LTSSM Fault Up"),
            *line("nvidia-nvswitch0: SXid (PCI:0000:38:00.0): 20034, Severity 1 Engine instance 30", after=0.1),
            *xid(74, f"{PROCESS}NVLink: fatal error detected on link 14(0x100000, 0x0, 0x0, 0x0)", after=0.2),
        ],
        "nvswitch-fatal-sxid",
        Action.REPLACE_NODE,
        "xid-74-nvlink-error",
    ),
    _fault(
        "a port of an NVSwitch corrects errors",
        line("nvidia-nvswitch0: SXid (PCI:0000:38:00.0): 11012, Non-fatal, Link 28 Single bit ECC errors"),
        "nvswitch-nonfatal-sxid",
        Action.RECORD,
    ),
    _fault(
        "an NVLink of Blackwell fails in this GPU",
        [
            *xid(145, f"{PROCESS}RLW_REMAP Fatal XC0 i0 Link 03 (0x00000004 0x00000080 0x00000000 0x0 0x0 0x0)"),
            *xid(154, "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset)", after=0.2),
        ],
        "nvlink5-fatal-error",
        Action.RESET_GPU,
        "gpu-recovery-action-reset",
        instance_type=B200,
    ),
    _fault(
        "an NVLink of an UltraServer reports something and goes on",
        xid(145, f"{PROCESS}RLW_SRC_TRACK Nonfatal XC1 i0 Link 03 (0x040868e2 0x00000008 0x00000000 0x0 0x0 0x0)"),
        "nvlink5-nonfatal-error",
        Action.RECORD,
        instance_type=GB200,
    ),
    _fault(
        "the IMEX domain of an UltraServer must be recovered",
        [
            *xid(154, "GPU recovery action changed from 0x0 (None) to 0x5 (Recover IMEX Domain)"),
            *polled(Kind.IMEX_ERROR, Severity.WARNING, component=NODE, after=61.0, reason="domain", domain="DEGRADED"),
        ],
        "imex-domain-not-ready",
        Action.PAGE_OPERATOR,
        "gpu-recovery-action-imex-domain",
        instance_type=GB200,
    ),
    _fault(
        "a device is cut off from the bus, and it was a GPU",
        [
            *line("pcieport 0000:83:03.0: DPC: containment event, status:0x1f01 source:0x0000"),
            *xid(79, "pid='<unknown>', name=<unknown>, GPU has fallen off the bus.", after=0.5),
        ],
        "xid-79-fell-off-the-bus",
        Action.REPLACE_NODE,
        "pcie-fatal-error",
    ),
    _fault(
        "an EFA device dies",
        [
            *(
                each
                for at in (0.0, 60.0, 120.0)
                for each in line(
                    "infiniband rdmap96s0: Failed to process command CREATE_AH (opcode 5) comp_status 7", at
                )
            ),
            *polled(Kind.NETWORK_EFA_MISSING, component=NIC, after=130.0, expected=4, found=3),
        ],
        "efa-driver-errors",
        Action.REPLACE_NODE,
        "efa-device-missing",
    ),
    _fault(
        "a remote node died: who waits for it accuses it, and stays untouched",
        [
            *polled(Kind.NETWORK_PEER_UNRESPONSIVE, component=NIC, reason="unresponsive", device="rdmap96s0"),
            *polled(Kind.NETWORK_EFA_ERRORS, Severity.WARNING, component=NIC, after=1.0, reason="retransmits"),
        ],
        "peer-unresponsive",
        Action.ALERT,
        "efa-packets-lost",
    ),
    _fault(
        "the firmware of an adapter gives up",
        [
            *line("mlx5_core 0000:9a:00.0: print_health_info:424:(pid 0): health compromised - mlx5_core fatal error"),
            *polled(Kind.NETWORK_DEVICE_FAILED, Severity.CRITICAL, component=PORT, after=6.0, device="mlx5_3"),
        ],
        "network-adapter-failed",
        Action.REPLACE_NODE,
    ),
)

"""What says that a fault is over: a healthy observation, and the kinds of fault that it ends.

Decides which events are one. Silence is none, nor is another reason of the same fault. It must not know policies.
"""

from collections.abc import Mapping

from policies.contract.events import FaultEvent
from policies.contract.vocabulary import Kind

_XID_RECOVERY_ACTION = 154

ENDED_BY: Mapping[Kind, frozenset[Kind]] = {
    Kind.NETWORK_LINK_UP: frozenset({Kind.NETWORK_LINK_DOWN}),
    Kind.STORAGE_NFS_RECOVERED: frozenset({Kind.STORAGE_NFS_STALLED}),
    Kind.STORAGE_LUSTRE_RECOVERED: frozenset({Kind.STORAGE_LUSTRE_STALLED, Kind.STORAGE_LUSTRE_EVICTED}),
    Kind.NODE_RECOVERED: frozenset({Kind.NODE_NOT_READY, Kind.NODE_SILENT}),
    # What a reset clears (NVIDIA, GPU Memory Error Management; Xid catalog, RESET_GPU). A remapping that failed and an
    # exceeded SRAM threshold are written into the card and outlive it.
    Kind.GPU_RESET: frozenset(
        {
            *(Kind.GPU_XID, Kind.GPU_RECOVERY_ACTION, Kind.GPU_ECC_UNCORRECTED, Kind.NVLINK_ERROR, Kind.NVLINK_DOWN),
            *(Kind.GPU_ROW_REMAP_PENDING, Kind.GPU_PAGE_RETIREMENT_PENDING),
        }
    ),
}
"""Kinds that say so by themselves. `condition.cleared` names what it ends, a recovery action of 0 is back to none."""

MEASURED: frozenset[Kind] = frozenset(
    {
        *(Kind.GPU_LOST, Kind.GPU_INIT_FAILED, Kind.GPU_DRIVER_MISMATCH, Kind.GPU_COUNT_MISMATCH, Kind.GPU_DRIVER_HUNG),
        *(Kind.GPU_SRAM_THRESHOLD_EXCEEDED, Kind.GPU_ROW_REMAP_PENDING, Kind.GPU_ROW_REMAP_FAILED, Kind.GPU_SLOWDOWN),
        *(Kind.GPU_PAGE_RETIREMENT_PENDING, Kind.GPU_OVERHEATED, Kind.GPU_PCIE_DEGRADED, Kind.GPU_RECOVERY_ACTION),
        *(Kind.GPU_HELD, Kind.GPU_HEALTH_FAILED, Kind.NVLINK_ERROR, Kind.NVLINK_DOWN, Kind.FABRIC_MANAGER_ERROR),
        *(Kind.IMEX_ERROR, Kind.HOST_CLOCK_UNSYNCHRONISED, Kind.HOST_MEMORY_LEAK, Kind.STORAGE_READ_ONLY),
        *(Kind.STORAGE_FULL, Kind.STORAGE_NFS_STALLED, Kind.STORAGE_LUSTRE_STALLED, Kind.NETWORK_LINK_DOWN),
        *(Kind.NETWORK_LINK_FLAPPING, Kind.NETWORK_LINK_DEGRADED, Kind.NETWORK_PORT_ERRORS, Kind.NETWORK_EFA_MISSING),
        *(Kind.NETWORK_DEVICE_FAILED, Kind.NETWORK_EFA_ERRORS, Kind.PROCESS_HUNG),
        *(Kind.TRAINING_STALLED, Kind.CONTAINER_RUNTIME_DOWN, Kind.NODE_KUBELET_DOWN, Kind.INSTANCE_SPOT_INTERRUPTION),
        *(Kind.INSTANCE_RETIREMENT_SCHEDULED, Kind.INSTANCE_MAINTENANCE_SCHEDULED),
        Kind.INSTANCE_REBALANCE_RECOMMENDED,
    }
)
"""What an agent measures again and again, and tells to be over (`agent.polls`)."""

ENDS: frozenset[Kind] = MEASURED.union(*ENDED_BY.values())
"""Kinds of which something tells the end; of others a line is printed, and then nobody knows."""

_MAY_SAY_SO = frozenset({*ENDED_BY, Kind.CONDITION_CLEARED, Kind.GPU_RECOVERY_ACTION, Kind.GPU_XID})
_NOTHING: frozenset[Kind] = frozenset()


def may_end(kind: Kind) -> frozenset[Kind]:
    """Return the kinds of fault that an event of *kind* may say to be over, whatever else it says."""
    if kind is Kind.CONDITION_CLEARED:
        return frozenset(Kind)
    if kind in {Kind.GPU_RECOVERY_ACTION, Kind.GPU_XID}:
        return frozenset({Kind.GPU_RECOVERY_ACTION})
    return ENDED_BY.get(kind, _NOTHING)


def ended_by(event: FaultEvent) -> frozenset[Kind]:
    """Return the kinds of fault that are over for the component of *event*; none when it says nothing of the sort."""
    kind = event.kind
    if kind not in _MAY_SAY_SO or (kind is Kind.GPU_XID and "recovery_action" not in event.attributes):
        return _NOTHING
    if kind is Kind.CONDITION_CLEARED:
        of = event.attributes.get("of")
        return frozenset({Kind(of)}) if isinstance(of, str) and of in _KINDS else _NOTHING
    if kind in ENDED_BY:
        return ENDED_BY[kind]
    return frozenset({Kind.GPU_RECOVERY_ACTION}) if _is_back_to_none(event) else _NOTHING


_KINDS = frozenset(kind.value for kind in Kind)


def _is_back_to_none(event: FaultEvent) -> bool:
    action = event.attributes.get("recovery_action")
    tells = event.kind is Kind.GPU_RECOVERY_ACTION or event.attributes.get("xid") == _XID_RECOVERY_ACTION
    return tells and type(action) is int and action == 0

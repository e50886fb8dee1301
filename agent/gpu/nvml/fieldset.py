"""Which values of a GPU are asked together: the few that are wanted each second, and the rest.

Ids from nvml.h (NVML_FI_*), which keeps them for ever. The driver answers each value with a code of its own, so what a
part does not have costs nothing but a place. It must not know what a value means for health.
"""

ECC_DBE_VOL_TOTAL, ECC_DBE_VOL_DEV, RETIRED_PENDING = 4, 12, 31
REMAPPED_PENDING, REMAPPED_FAILURE, RECOVERY_ACTION = 144, 145, 230
ECC_SBE_VOL_TOTAL, ECC_SBE_AGG_TOTAL, ECC_DBE_AGG_TOTAL, RETIRED_DBE = 3, 5, 6, 30
MEMORY_TEMP, PCIE_REPLAY_COUNTER, REMAPPED_UNC, TEMPERATURE_SLOWDOWN_TLIMIT = 82, 94, 143, 194
# Of one link: the scope is its number. The first four are for Hopper and, but for the state, not for Blackwell.
NVLINK_REPLAY, NVLINK_RECOVERY, NVLINK_CRC, NVLINK_STATE = 161, 162, 163, 165
NVLINK_RECOVERY_FAILED = 214

FAST = {
    "ecc_uncorrected": ECC_DBE_VOL_TOTAL,
    "ecc_uncorrected_dram": ECC_DBE_VOL_DEV,
    "remap_pending": REMAPPED_PENDING,
    "remap_failed": REMAPPED_FAILURE,
    "retirement_pending": RETIRED_PENDING,
    "recovery_action": RECOVERY_ACTION,
}
SLOW = {
    "ecc_corrected": ECC_SBE_VOL_TOTAL,
    "ecc_corrected_ever": ECC_SBE_AGG_TOTAL,
    "ecc_uncorrected_ever": ECC_DBE_AGG_TOTAL,
    "rows_remapped": REMAPPED_UNC,
    "pages_retired": RETIRED_DBE,
    "memory_temperature": MEMORY_TEMP,
    "pcie_replays": PCIE_REPLAY_COUNTER,
    "slowdown_margin": TEMPERATURE_SLOWDOWN_TLIMIT,
}
SIGNED = frozenset({MEMORY_TEMP, TEMPERATURE_SLOWDOWN_TLIMIT})  # the others count
FLAGS = ("remap_pending", "remap_failed", "retirement_pending")

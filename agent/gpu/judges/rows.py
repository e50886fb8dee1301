"""Memory that is taken out of use: rows remapped since Ampere, pages retired before.

Pending is latched until a reset, and no more than that (Xid 63: go on, reset at the next pause). A remapping that
failed is for good: the card is to be returned (docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt). A part that has neither
says "not supported", which is no health. It must not know ECC counters.
"""

from collections.abc import Iterable

from agent.gpu.nvml.snapshot import Gpu
from agent.gpu.parts import gpu_part, unread
from agent.parsers.sighting import Sighting, known
from agent.polls.reading import Holds, Reading
from policies.contract.catalog.xid import occurrence_key
from policies.contract.events import Scalar
from policies.contract.vocabulary import Kind, Persistence, Severity

_XID_REMAPPED = 63
_SAID = {
    Kind.GPU_ROW_REMAP_PENDING: "rows of its memory are remapped at the next reset",
    Kind.GPU_ROW_REMAP_FAILED: "a row of its memory could not be remapped",
    Kind.GPU_PAGE_RETIREMENT_PENDING: "pages of its memory are retired at the next reset",
}


def judge_rows(gpus: Iterable[Gpu]) -> list[Reading]:
    """Judge the flags of each GPU."""
    found: list[Reading] = []
    for gpu in gpus:
        for kind, flag in (
            (Kind.GPU_ROW_REMAP_PENDING, gpu.remap_pending),
            (Kind.GPU_ROW_REMAP_FAILED, gpu.remap_failed),
            (Kind.GPU_PAGE_RETIREMENT_PENDING, gpu.retirement_pending),
        ):
            if flag is None:
                found.append(unread(gpu, kind))
            elif flag:
                found.append(_holds(gpu, kind))
    return found


def _holds(gpu: Gpu, kind: Kind) -> Holds:
    failed = kind is Kind.GPU_ROW_REMAP_FAILED
    occurrence = occurrence_key(_XID_REMAPPED, gpu.pci)
    attributes: dict[str, Scalar] = {"occurrence": occurrence} if occurrence else {}
    if gpu.detail:
        attributes |= known(rows_remapped=gpu.detail.rows_remapped, pages_retired=gpu.detail.pages_retired)
    severity = Severity.CRITICAL if failed else Severity.WARNING
    sighting = Sighting(kind, severity, gpu_part(gpu), attributes, Persistence.PERMANENT)
    return Holds(sighting, f"GPU {gpu.index}: {_SAID[kind]}", again=3600.0)

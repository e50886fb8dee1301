"""Which findings mean that what was saved after them cannot be trusted.

Newest complete is not always right: after corruption the newest one from before the first evidence is.
"""

from collections.abc import Iterable
from datetime import datetime

from policies.contract.vocabulary import Kind
from policies.coordination.notes import FindingNote

# NVIDIA, Xid catalogue: 95 is an uncontained ECC error, 140 one that was not recovered; any process may have read wrong
# data. A checkpoint that does not load says nothing of when it went wrong, only that it did: what is saved after that
# read is sound, and the step that was read is set aside when the run does not go on from it.
_CORRUPTING_XIDS = frozenset({95, 140})
_CORRUPTING_KINDS = frozenset({
    Kind.GPU_SRAM_THRESHOLD_EXCEEDED,
    Kind.STORAGE_LUSTRE_EVICTED,  # writes in flight are dropped (Lustre manual, "Evicted by the server")
    Kind.TRAINING_LOSS_ANOMALY,
})  # fmt: skip


def first_corruption(findings: Iterable[FindingNote]) -> datetime | None:
    """Return when the first sign of corruption was observed, None when none of *findings* is one."""
    return min((finding.first_observed_at for finding in findings if _corrupts(finding)), default=None)


def _corrupts(finding: FindingNote) -> bool:
    return finding.kind in _CORRUPTING_KINDS or (
        finding.kind is Kind.GPU_XID and finding.attributes.get("xid") in _CORRUPTING_XIDS
    )

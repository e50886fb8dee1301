"""What counts as the same fault on another node or another day: the kind, and for an Xid or SXid its code.

It must not know who compares.
"""

from collections.abc import Mapping

from policies.contract.events import Scalar
from policies.contract.vocabulary import Kind

_CODES = {Kind.GPU_XID: "xid", Kind.NVSWITCH_SXID: "sxid"}


def fault_of(kind: Kind, attributes: Mapping[str, Scalar]) -> str:
    """Return ``gpu.xid 119`` and the like; a kind without codes is named by itself."""
    code = attributes.get(_CODES[kind]) if kind in _CODES else None
    return kind.value if code is None else f"{kind.value} {code}"

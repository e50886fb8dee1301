"""What `nvidia-imex-ctl` says of this node's IMEX daemon and of the domain, as data.

Decides what is understood; anything else is None. It must not know what is a fault.

Sources: NVIDIA IMEX guide, "IMEX Service Command Service" (``-q``: this daemon's state, ``-N -j``: the domain as JSON);
the states are those of dcgm_fields.h, DCGM_FI_IMEX_DAEMON_STATUS and DCGM_FI_IMEX_DOMAIN_STATUS. As printed by 570:

    READY
    {"nodes": {"0": {"status": "READY", "host": "10.0.0.1", "connections": {"1": {"host": "10.0.0.2", "status":
    "CONNECTED", "changed": true}}, "hostName": "a"}}, "timestamp": "9/4/2026 00:00:00.000", "status": "UP"}
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

READY = "READY"
_STATES = frozenset(
    {
        *("INITIALIZING", "STARTING_AUTH_SERVER", "WAITING_FOR_PEERS", "WAITING_FOR_RECOVERY"),
        *("INIT_GPU", READY, "SHUTTING_DOWN", "UNAVAILABLE"),
    }
)
_MOST_NODES = 128  # an NVLink domain of today has 18 (72 GPUs)


@dataclass(frozen=True, slots=True)
class Domain:
    """The domain's status (UP, DEGRADED, DOWN), and each node's by its address."""

    status: str
    nodes: Mapping[str, str]


def daemon_state(text: str) -> str | None:
    """Return the state in the answer to ``-q``, or None."""
    words = text.split()
    return words[-1] if words and words[-1] in _STATES else None


def read_domain(text: str) -> Domain | None:
    """Return what the answer to ``-N -j`` says, or None when it is not of the shape above."""
    try:
        told = json.loads(text)
    except (ValueError, RecursionError):
        return None
    nodes = told.get("nodes") if isinstance(told, dict) else None
    if not isinstance(nodes, dict) or not isinstance(told.get("status"), str):
        return None
    found = [node for node in list(nodes.values())[:_MOST_NODES] if isinstance(node, dict)]
    return Domain(told["status"][:32], {_text(node, "host"): _text(node, "status") for node in found})


def _text(node: Mapping[str, object], name: str) -> str:
    value = node.get(name)
    return value[:64] if isinstance(value, str) else ""

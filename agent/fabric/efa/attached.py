"""How many network interfaces of this instance must have an EFA device, as the instance's metadata tells.

Decides by what interfaces lack: one that is for EFA only has no address (amazon-vpc-cni-k8s takes an interface without
local-ipv4s and ipv6s for EFA-only, too). Of the others the metadata does not tell which are EFA as well, so this is a
lower bound. It must not know what is here.
"""

import time

from agent.identity import Metadata
from policies.contract.errors import DependencyError

_MACS = "network/interfaces/macs/"
_PATIENCE_SECONDS = 5.0  # for all: devices are not looked at meanwhile
_MOST = 64  # more than any instance can have
_ADDRESSES = {"local-ipv4s", "ipv6s"}


def efa_only_interfaces(metadata: Metadata) -> int | None:
    """Return how many attached interfaces are for EFA only, None when the metadata service does not say."""
    until = time.monotonic() + _PATIENCE_SECONDS
    try:
        macs = [line.strip("/") for line in metadata(_MACS).split()][:_MOST]
        fields = []
        for mac in macs:
            if time.monotonic() > until:
                return None
            fields.append({line.strip("/") for line in metadata(f"{_MACS}{mac}/").split()})
    except DependencyError:
        return None
    return sum(not names & _ADDRESSES for names in fields)

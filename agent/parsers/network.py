"""Network adapters: NVIDIA's ConnectX (mlx5), AWS's EFA and ENA, in the kernel's words.

Sources: drivers/net/ethernet/mellanox/mlx5/core/{events,health,cmd,port}.c, en/*.c; net/sched/sch_generic.c;
drivers/infiniband/hw/efa. It must not know fabrics.
"""

import re
from dataclasses import replace

from agent.parsers.pci import ADDRESS, normalise_pci
from agent.parsers.rules import first_match, rule
from agent.parsers.sighting import Sighting
from policies.contract.events import Component
from policies.contract.vocabulary import ComponentType, Kind, Severity

_NIC = ComponentType.NIC
_ADDRESS = re.compile(rf"mlx5_core ({ADDRESS})")

_RULES = (
    rule(
        Kind.NETWORK_POWER_INSUFFICIENT,
        Severity.ERROR,
        _NIC,
        r"Detected insufficient power on the PCIe slot(?: \((?P<watts>[0-9]{1,4})W\))?",
        words=("insufficient power",),
    ),
    # events.c port_module: "[error]" stands where the module reports one; unplugged has no error of its own
    rule(
        Kind.NETWORK_MODULE_FAULT,
        Severity.ERROR,
        _NIC,
        r"Port module event(?:\[error\]: module (?P<module>[0-9]{1,3}), (?P<reason>[^\n]{1,120})"
        r"|: module [0-9]{1,3}, Cable unplugged)",
        words=("Port module event",),
    ),
    rule(
        Kind.NETWORK_REGISTER_ACCESS_FAILED,
        Severity.WARNING,
        _NIC,
        r"ACCESS_REG\(0x[0-9a-f]{1,8}\) op_mod\(0x[0-9a-f]{1,8}\) failed",
        words=("ACCESS_REG(",),
    ),
    # health.c, cmd.c wait_func
    rule(
        Kind.NETWORK_DEVICE_FAILED,
        Severity.CRITICAL,
        _NIC,
        r"(?:device's health compromised|unrecoverable hardware error"
        r"|mlx5_core [^\n]{0,120}[Ff]atal (?:FW |firmware )?error"
        r"|[A-Z_]{3,40}\(0x[0-9a-f]{1,8}\) timeout\. Will cause a leak of a command resource)",
        words=("health compromised", "hardware error", "mlx5_core", "timeout. Will cause"),
    ),
    rule(
        Kind.NETWORK_DEVICE_STALLED,
        Severity.ERROR,
        _NIC,
        r"(?:NETDEV WATCHDOG: [^\n]{0,80}transmit queue [0-9]{1,5} timed out|[RT]X timeout (?:on channel|detected))",
        words=("NETDEV WATCHDOG", "X timeout "),
    ),
    rule(
        Kind.NETWORK_EFA_ERRORS,
        Severity.ERROR,
        _NIC,
        r"infiniband (?P<device>(?:rdmap|efa_)\w{1,24}): Failed to (?:process|submit) command",
        words=("infiniband ",),
    ),
    rule(
        Kind.NETWORK_LINK_DOWN,
        Severity.ERROR,
        _NIC,
        r"mlx5_core [0-9a-f:.]{5,16} (?P<device>\w{1,32}): Link down",
        words=(": Link down",),
    ),
    rule(
        Kind.NETWORK_LINK_DOWN,
        Severity.ERROR,
        _NIC,
        r"(?P<device>\w{1,32}): NIC Link is Down",
        words=("NIC Link is Down",),
    ),
    rule(
        Kind.NETWORK_LINK_UP,
        Severity.INFO,
        _NIC,
        r"mlx5_core [0-9a-f:.]{5,16} (?P<device>\w{1,32}): Link up",
        words=(": Link up",),
    ),
    rule(
        Kind.NETWORK_LINK_UP,
        Severity.INFO,
        _NIC,
        r"(?P<device>\w{1,32}): NIC Link is Up",
        words=("NIC Link is Up",),
    ),
)


def parse_network(text: str) -> list[Sighting]:
    """Return what *text* says of a network adapter, at most one fault."""
    found = first_match(_RULES, text)
    address = _ADDRESS.search(text) if found else None
    if address is None:
        return found
    component = Component(type=_NIC, pci=normalise_pci(address[1]))
    return [replace(sighting, component=component) for sighting in found]

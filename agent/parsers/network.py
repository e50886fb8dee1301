"""Network adapters: NVIDIA's ConnectX (mlx5), AWS's EFA and ENA, and links in general, in the kernel's words.

Sources: drivers/net/ethernet/mellanox/mlx5/core/{events,health,cmd,port,main}.c, en/*.c; net/sched/sch_generic.c;
drivers/infiniband/hw/efa/efa_com.c; drivers/net/ethernet/amazon/ena; drivers/net/bonding. EFA and ENA share words
("Reset indication didn't turn on"): what is EFA's says efa or the name of its RDMA device. It must not know fabrics.
"""

import re
from dataclasses import replace

from agent.parsers.pci import ADDRESS, normalise_pci
from agent.parsers.rules import first_match, rule, table
from agent.parsers.sighting import LineParser, Sighting
from policies.contract.catalog.nvlink5 import DriverLayout
from policies.contract.events import Component
from policies.contract.vocabulary import ComponentType, Kind, Severity

_NIC = ComponentType.NIC
_ADDRESS = re.compile(rf"\b(?:mlx5_core|efa|ena) ({ADDRESS})")
_EFA = rf"(?:infiniband (?P<device>(?:rdmap|efa_)\w{{1,24}})|\befa {ADDRESS}): "

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
        r"|: module [0-9]{1,3}, Cable (?:unplugged|error))",
        words=("Port module event",),
    ),
    rule(
        Kind.NETWORK_REGISTER_ACCESS_FAILED,
        Severity.WARNING,
        _NIC,
        r"ACCESS_REG\(0x[0-9a-f]{1,8}\) op_mod\(0x[0-9a-f]{1,8}\) failed",
        words=("ACCESS_REG(",),
    ),
    # health.c, cmd.c wait_func, main.c wait_fw_init
    rule(
        Kind.NETWORK_DEVICE_FAILED,
        Severity.CRITICAL,
        _NIC,
        r"device's health compromised",
        r"mlx5_core [^\n]{0,120}(?:unrecoverable hardware error|firmware internal error|handling bad device here)",
        r"mlx5_core [^\n]{0,120}[Ff]atal (?:FW |firmware )?error",
        r"mlx5_core [^\n]{0,120}(?:health recovery f(?:low aborted|ailed)|PCI reads still not working|initializing "
        r"state, aborting)",
        r"mlx5_core [^\n]{0,120}mlx5_init_one failed",
        r"[A-Z_0-9]{3,40}\(0x[0-9a-f]{1,8}\) timeout\. Will cause a leak of a command resource",
        words=("health compromised", "mlx5_core ", "timeout. Will cause"),
    ),
    rule(
        Kind.NETWORK_DEVICE_STALLED,
        Severity.ERROR,
        _NIC,
        r"NETDEV WATCHDOG: [^\n]{0,80}transmit queue [0-9]{1,5} timed out",
        r"[RT]X timeout (?:on (?:channel|queue)|detected)",
        r"\bena [^\n]{0,80}(?:Found a Tx that wasn't completed on time|number of lost tx completions? is above the "
        r"threshold)",
        r"\bena [^\n]{0,80}(?:Keep alive watchdog timeout|Reset indication didn't turn o(?:n|ff))",
        words=("timed out", "X timeout ", "ena "),
    ),
    rule(
        Kind.NETWORK_EFA_ERRORS,
        Severity.ERROR,
        _NIC,
        rf"{_EFA}(?:Failed to (?:process|submit) command|Wait for completion \((?:polling|interrupt)\)"
        r"|The device (?:didn't send any completion|sent a completion but)|Admin queue is closed"
        r"|Reset indication didn't turn o(?:n|ff)|Device isn't ready|Keep alive watchdog timeout)",
        words=("infiniband ", "efa "),
    ),
    # mlx5 en_main.c, and the drivers of other adapters: "NIC Link is Down", "Link is Down"; net/bonding/bond_main.c
    rule(
        Kind.NETWORK_LINK_DOWN,
        Severity.ERROR,
        _NIC,
        rf"mlx5_core {ADDRESS} (?P<device>[\w.-]{{1,32}}): Link down",
        words=(": Link down",),
    ),
    rule(
        Kind.NETWORK_LINK_DOWN,
        Severity.ERROR,
        _NIC,
        r"(?P<device>[\w.-]{1,32})(?:: | )(?:NIC )?Link is [Dd]own",
        words=("ink is Down", "ink is down"),
    ),
    rule(
        Kind.NETWORK_LINK_DOWN,
        Severity.ERROR,
        _NIC,
        r"link status definitely down for interface (?P<device>[\w.-]{1,32})",
        r"\(slave [\w.-]{1,32}\): link status definitely down",
        words=("definitely down",),
    ),
    rule(
        Kind.NETWORK_LINK_UP,
        Severity.INFO,
        _NIC,
        rf"mlx5_core {ADDRESS} (?P<device>[\w.-]{{1,32}}): Link up",
        words=(": Link up",),
    ),
    rule(
        Kind.NETWORK_LINK_UP,
        Severity.INFO,
        _NIC,
        r"(?P<device>[\w.-]{1,32})(?:: | )(?:NIC )?Link is [Uu]p",
        words=("ink is Up", "ink is up"),
    ),
)


def _parse(text: str, _layout: DriverLayout | None = None) -> list[Sighting]:
    found = first_match(_RULES, text)
    address = _ADDRESS.search(text) if found else None
    if address is None:
        return found
    component = Component(type=_NIC, pci=normalise_pci(address[1]))
    return [replace(sighting, component=component) for sighting in found]


NETWORK = LineParser(_parse, table(_RULES).words)

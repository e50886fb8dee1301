"""NVSwitch faults: the driver's SXids in the kernel's log, and what Fabric Manager says in its own.

Forms (Fabric Manager user guide, "Error handling"; open-gpu-kernel-modules, src/common/nvswitch: common_nvswitch.h
NVSWITCH_PRINT_SXID, kernel/error_nvswitch.c):

    nvidia-nvswitch0: SXid (PCI:0000:38:00.0): 20034, Fatal, Link 30 LTSSM Fault Up
    nvidia-nvswitch0: SXid (PCI:0004:32:00.0): 26006, SOE HALT data[0] = 0x0           no word about fatality
    nvidia-nvswitch0: SXid (PCI:0000:53:00.0): 12033, Severity 1 Engine instance 00 Sub-engine instance 00
    nvidia-nvswitch0: SXid (PCI:0000:53:00.0): 12033, Data {0x00000001, 0x00000000, ...}     about the line before it
    [..] [ERROR] [tid 841] detected NVSwitch fatal error 20034 on fid 0 on NVSwitch pci bus id 00000000:b3:00.0 ..
    [..] [ERROR] [tid 12] failed to find the GPU handle 541.. in the multicast team request setup 613..

It must not know topologies.
"""

import re

from agent.parsers.pci import ADDRESS, normalise_pci
from agent.parsers.rules import first_match, rule
from agent.parsers.sighting import LineParser, Sighting
from policies.contract.catalog.nvlink5 import DriverLayout
from policies.contract.catalog.sxid import describe_sxid
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Severity

_SXID = re.compile(
    rf"(?:nvidia-nvswitch([0-9]{{1,3}}): )?SXid \((?:PCI:)?({ADDRESS})\): ([0-9]{{1,6}})(?![0-9])([^\n]{{0,400}})"
)
_WORD = re.compile(r"\b(?:(Fatal)|(Non-?fatal))\b|\bSeverity ([01])\b", re.IGNORECASE)  # severity 1 is fatal
_LINK = re.compile(r"\bLink ([0-9]{1,3})\b")
_DETAIL = re.compile(r"^, (?:Data \{|Severity )")
_FABRIC_SXID = re.compile(
    rf"detected NVSwitch (fatal|non-fatal) error ([0-9]{{1,6}}) on fid [0-9]{{1,4}} on NVSwitch pci bus id ({ADDRESS})"
    r"(?:[^\n]{0,40}? port ([0-9]{1,3}))?"
)
_FABRIC = (
    # "Nothing to do": said where there is no NVSwitch at all (H100 PCIe, GH200), and where the driver shows none
    rule(
        Kind.FABRIC_MANAGER_ERROR,
        Severity.WARNING,
        ComponentType.NVSWITCH,
        r"request to [^\n]{1,120} NVSwitch driver failed [^\n]{0,80}(?P<status>NV_WARN_NOTHING_TO_DO)",
        words=("NV_WARN_NOTHING_TO_DO",),
    ),
    rule(
        Kind.FABRIC_MANAGER_ERROR,
        Severity.ERROR,
        ComponentType.NVSWITCH,
        r"number of NVSwitch(?:es)? don't match with any supported system topology",
        r"request to [^\n]{1,120} NVSwitch driver failed",
        r"\[ERROR\][^\n]{0,60} failed to (?:find|configure|initialize|detect|train|open|query|get|set|read|send)\b",
        r"failed to (?:configure|initialize|detect|train) (?:all )?(?:the )?[^\n]{0,40}(?:NVSwitch|NVLink|GPU)",
        r"aborting fabric manager",
        words=("NVSwitch", "[ERROR]", "fabric manager", "failed to configure", "failed to detect", "failed to train"),
    ),
)


def _parse_sxid(text: str, _layout: DriverLayout | None = None) -> list[Sighting]:
    return [_driver(match) for match in _SXID.finditer(text)]


def _parse_fabric_manager(text: str, _layout: DriverLayout | None = None) -> list[Sighting]:
    if "detected NVSwitch" in text and (match := _FABRIC_SXID.search(text)):
        word, code, address, port = match.groups()
        return [_sighting({"sxid": int(code)}, address, fatal=word == "fatal", link=port, index=None)]
    return first_match(_FABRIC, text)


def _driver(match: re.Match[str]) -> Sighting:
    index, address, code, rest = match.groups()
    word, link = _WORD.search(rest), _LINK.search(rest)
    fatal = (word[1] is not None or word[3] == "1") if word else None
    attributes: dict[str, Scalar] = {"sxid": int(code)}
    if _DETAIL.match(rest):
        attributes["detail"] = True  # of the SXid printed just before, not another one
    return _sighting(attributes, address, fatal=fatal, link=link[1] if link else None, index=index)


def _sighting(
    attributes: dict[str, Scalar], address: str, *, fatal: bool | None, link: str | None, index: str | None
) -> Sighting:
    if fatal is not None:
        attributes["fatal"] = fatal
    if link is not None:
        attributes["link"] = int(link)
    component = Component(
        type=ComponentType.NVSWITCH,
        pci=normalise_pci(address),
        index=int(index) if index else None,
        link=int(link) if link else None,
    )
    said = {True: Severity.CRITICAL, False: Severity.WARNING}
    severity = said[fatal] if fatal is not None else describe_sxid(int(attributes["sxid"])).severity
    return Sighting(Kind.NVSWITCH_SXID, severity, component, attributes)


SXID = LineParser(_parse_sxid, ("SXid (",))
FABRIC_MANAGER = LineParser(_parse_fabric_manager, ("detected NVSwitch", *_FABRIC[0].words, *_FABRIC[1].words))

"""What an Xid code means by itself: NVIDIA's table, in the words of the contract.

The facts (code, mnemonic, what the vendor says to do first, whose fault it usually is) are from NVIDIA's Xid catalog
(docs.nvidia.com/deploy/xid-errors, driver branches R550 to R580, state of November 2026); codes that the catalog does
not describe yet have their names from the open kernel modules' header `nverror.h` ("nvidia-driver-header"). Rows marked
"+relight" carry a judgement of ours as well: 13, 31 and 43 are the application's unless the same GPU fails under
distinct jobs; 45 and 154 are symptoms of another Xid; after 79 a reset helps no more, so the node is replaced.

Columns ``ampere``, ``hopper``, ``blackwell``: whether the vendor's table says the code for that architecture (A100;
H100; B100 or GB200), ``unknown`` where it does not list the code. ``occurrence`` names companions: codes of one name
on one GPU within seconds are one physical error (48 with 63, 64, 94, 95; 79 with the line about the lost GPU).

Severity: the vendor's critical is critical; its warning is an error where hardware is at fault, else a warning; its
info is a warning where hardware is at fault, else info; whatever it leaves open is an error.

It must not know architectures, policies or what is really done: one code never decides that alone.
"""

import csv
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, cast, get_args

from policies.contract.vocabulary import Action, Severity

Architecture = Literal["ampere", "hopper", "blackwell"]
Bucket = Literal["application", "hardware", "software", "symptom", "either", "unknown"]

XID_LOST = 79
_SAID = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class XidEntry:
    """One code. ``action`` is what the vendor says to do first, in our words."""

    code: int
    mnemonic: str
    severity: Severity
    bucket: Bucket
    action: Action
    source: str
    occurrence: str = ""
    architectures: Mapping[str, bool] = field(default_factory=dict)

    def applies_to(self, architecture: str) -> bool | None:
        """Tell whether the vendor lists the code for *architecture*; None where nobody says."""
        return self.architectures.get(architecture)


def describe_xid(code: int) -> XidEntry:
    """Return what is known of *code*; a code that nobody described is an error, never critical, and a person looks."""
    return xid_catalog().get(code) or XidEntry(code, "UNKNOWN", Severity.ERROR, "unknown", Action.PAGE_OPERATOR, "none")


def occurrence_key(code: int, pci: str | None) -> str | None:
    """Return the name that companions of one physical error on the GPU at *pci* share; None where there are none."""
    name = describe_xid(code).occurrence
    return f"{name}:{pci}" if name and pci else None


def occurrence_of_loss(pci: str) -> str:
    """Return the name that the line about a lost GPU at *pci* shares with its Xid 79."""
    return occurrence_key(XID_LOST, pci) or ""


@cache
def xid_catalog() -> dict[int, XidEntry]:
    """Return the whole table by code."""
    raw = pkgutil.get_data("policies.contract.catalog", "xid.csv")
    assert raw is not None, "xid.csv belongs to this package"
    entries = (_entry(row) for row in csv.DictReader(raw.decode("utf-8").splitlines()))
    return {entry.code: entry for entry in entries}


def _entry(row: dict[str, str]) -> XidEntry:
    assert row["bucket"] in get_args(Bucket), row
    bucket = cast("Bucket", row["bucket"])
    severity, action = Severity(row["severity"]), Action(row["action"])
    known = {name: _SAID[row[name]] for name in get_args(Architecture) if row[name] in _SAID}
    code, source, occurrence = int(row["code"]), row["source"], row["occurrence"]
    return XidEntry(code, row["mnemonic"], severity, bucket, action, source, occurrence, known)

"""What an SXid code of an NVSwitch means by itself, where the record does not say whether it is fatal.

The facts are from NVIDIA's Fabric Manager user guide ("SXid errors": fatal and always fatal are critical here, others
a warning), state of November 2026; codes that the guide does not list have their names from the open kernel modules'
NVSwitch headers ("nvidia-driver-header") and are errors.

It must not know topologies or what is done about a code.
"""

import csv
import pkgutil
from dataclasses import dataclass
from functools import cache

from policies.contract.vocabulary import Severity


@dataclass(frozen=True, slots=True)
class SxidEntry:
    """One code."""

    code: int
    name: str
    severity: Severity
    source: str


def describe_sxid(code: int) -> SxidEntry:
    """Return what is known of *code*; a code that nobody described is an error, never critical."""
    return sxid_catalog().get(code) or SxidEntry(code, "unknown", Severity.ERROR, "none")


@cache
def sxid_catalog() -> dict[int, SxidEntry]:
    """Return the whole table by code."""
    raw = pkgutil.get_data("policies.contract.catalog", "sxid.csv")
    assert raw is not None, "sxid.csv belongs to this package"
    rows = csv.DictReader(raw.decode("utf-8").splitlines())
    entries = (SxidEntry(int(row["code"]), row["name"], Severity(row["severity"]), row["source"]) for row in rows)
    return {entry.code: entry for entry in entries}

"""What an Xid code means by itself: NVIDIA's table, in the words of the contract.

The facts (code, mnemonic, what the vendor says to do first, whose fault it usually is) are from NVIDIA's Xid catalog
(docs.nvidia.com/deploy/xid-errors, driver branches R550 to R580, state of November 2026); codes that the catalog does
not describe yet have their names from the open kernel modules' header `nverror.h` ("nvidia-driver-header"). Rows marked
"+relight" carry a judgement of ours as well: 13, 31 and 43 are the application's unless the same GPU fails under
distinct jobs; 45 and 154 are symptoms of another Xid; after 79 a reset helps no more, so the node is replaced.

Severity: the vendor's critical is critical; its warning is an error where hardware is at fault, else a warning; its
info is a warning where hardware is at fault, else info; whatever it leaves open is an error.

It must not know architectures, policies or what is really done: one code never decides that alone.
"""

import csv
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast, get_args

from policies.contract.vocabulary import Action, Severity

Bucket = Literal["application", "hardware", "software", "symptom", "either", "unknown"]


@dataclass(frozen=True, slots=True)
class XidEntry:
    """One code. ``action`` is what the vendor says to do first, in our words."""

    code: int
    mnemonic: str
    severity: Severity
    bucket: Bucket
    action: Action
    source: str


def describe_xid(code: int) -> XidEntry:
    """Return what is known of *code*; a code that nobody described is an error, never critical, and a person looks."""
    return xid_catalog().get(code) or XidEntry(code, "UNKNOWN", Severity.ERROR, "unknown", Action.PAGE_OPERATOR, "none")


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
    return XidEntry(int(row["code"]), row["mnemonic"], severity, bucket, action, row["source"])

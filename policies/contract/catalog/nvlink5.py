"""What an NVLink 5 error (Xids 144 to 150, Blackwell) means, by the unit, its interrupt word and its error status.

The driver prints ``<unit> Fatal|Nonfatal XC<n> i<n> Link <n> (<interrupt word> <error status> ...)``. Which bits of the
interrupt word say what happened changed with driver branch R575, so a row holds both layouts, each as mask/value in
hexadecimal: a word fits when ``word & mask == value``. An empty error status fits any.

The facts (layouts, what to do first, where to look) are from the sheet on NVLink 5 of NVIDIA's Xid catalog
(docs.nvidia.com/deploy/xid-errors, state of November 2026), in words of ours. ``decided_by`` 154: the recovery action
of the Xid 154 beside it decides. ``look_at`` says where the cause may sit, ``far_end`` among them: then this GPU is not
to blame. Severity: fatal with a reset is critical, fatal without one an error, the rest a warning.

It must not know how a line looks, nor what is really done.
"""

import csv
import pkgutil
from dataclasses import dataclass
from enum import Enum
from functools import cache

from policies.contract.vocabulary import Action, Severity

FIRST_NEW_BRANCH = 575
_OLDEST_BRANCH, _NEWEST_BRANCH = 100, 9999  # NVIDIA's branches have three digits; anything else is no version


class DriverLayout(Enum):
    """How a driver lays its interrupt words out."""

    BEFORE_575 = "before_575"
    FROM_575 = "from_575"


def layout_of(driver: str) -> DriverLayout | None:
    """Return the layout of *driver* (``570.148.08``, ``R570`` or ``570``), None where it is no version."""
    digits = driver.strip().removeprefix("R").removeprefix("r").partition(".")[0]
    if not (digits.isascii() and digits.isdigit()) or not _OLDEST_BRANCH <= int(digits[:9]) <= _NEWEST_BRANCH:
        return None
    return DriverLayout.BEFORE_575 if int(digits) < FIRST_NEW_BRANCH else DriverLayout.FROM_575


@dataclass(frozen=True, slots=True)
class Nvlink5Entry:
    """One row of the table. ``action`` is what the vendor says to do first, in our words."""

    xid: int
    units: frozenset[str]
    words: dict[DriverLayout, tuple[int, int]]
    error_status: int | None
    severity: Severity
    action: Action
    decided_by: int | None
    look_at: str
    cause: str

    def fits(self, layout: DriverLayout, word: int, error_status: int) -> bool:
        """Tell whether this row is about that interrupt word and error status."""
        mask, value = self.words[layout]
        return word & mask == value and self.error_status in {None, error_status}


def decode_nvlink5(
    xid: int, unit: str, word: int, error_status: int, layout: DriverLayout | None
) -> Nvlink5Entry | None:
    """Return the row for what the driver printed, None where the table has none.

    A driver that is known is read by its own layout alone. Without one both are tried: no word of one unit fits both.
    """
    layouts = (layout,) if layout else tuple(DriverLayout)
    rows = nvlink5_catalog().get((xid, unit), ())
    return next((row for row in rows for one in layouts if row.fits(one, word, error_status)), None)


@cache
def nvlink5_catalog() -> dict[tuple[int, str], tuple[Nvlink5Entry, ...]]:
    """Return the rows by Xid and unit; a unit that drivers name in two ways stands under each."""
    raw = pkgutil.get_data("policies.contract.catalog", "nvlink5.csv")
    assert raw is not None, "nvlink5.csv belongs to this package"
    found: dict[tuple[int, str], tuple[Nvlink5Entry, ...]] = {}
    for row in csv.DictReader(raw.decode("utf-8").splitlines()):
        entry = _entry(row)
        for unit in entry.units:
            found[entry.xid, unit] = (*found.get((entry.xid, unit), ()), entry)
    return found


def _entry(row: dict[str, str]) -> Nvlink5Entry:
    return Nvlink5Entry(
        xid=int(row["xid"]),
        units=frozenset({row["unit"], *row["unit"].split("/")}),
        words={layout: _mask_and_value(row[layout.value]) for layout in DriverLayout},
        error_status=int(row["error_status"], 16) if row["error_status"] else None,
        severity=Severity(row["severity"]),
        action=Action(row["action"]),
        decided_by=int(row["decided_by"]) if row["decided_by"] else None,
        look_at=row["look_at"],
        cause=row["cause"],
    )


def _mask_and_value(text: str) -> tuple[int, int]:
    mask, value = (int(part, 16) for part in text.split("/"))
    return mask, value

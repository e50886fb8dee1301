"""The table of NVLink 5 errors is a set of facts: it changes on purpose or not at all."""

import hashlib
import pkgutil

import pytest

from policies.contract.catalog.nvlink5 import DriverLayout, Nvlink5Entry, decode_nvlink5, layout_of, nvlink5_catalog
from policies.contract.catalog.xid import xid_catalog
from policies.contract.vocabulary import Action, Severity

# Renew it with: sha256sum policies/contract/catalog/nvlink5.csv
CHECKSUM = "78faca7bdfef62c237beb9102193026ed20f644b3ad2c19324aae1a576ffdc9b"
ROWS = {id(row): row for rows in nvlink5_catalog().values() for row in rows}.values()


def test_the_table_is_the_one_that_was_checked() -> None:
    raw = pkgutil.get_data("policies.contract.catalog", "nvlink5.csv")
    assert raw is not None
    assert hashlib.sha256(raw).hexdigest() == CHECKSUM
    assert len(ROWS) == 98


def test_every_row_is_about_an_nvlink_xid_and_asks_for_something_that_exists() -> None:
    for row in ROWS:
        assert row.xid in range(144, 151)
        assert row.xid in xid_catalog()
        assert row.action in Action
        assert row.decided_by in {None, 154}
        assert (row.action is Action.RESET_GPU) == (row.severity is Severity.CRITICAL) or row.severity is Severity.ERROR


@pytest.mark.parametrize("layout", DriverLayout)
def test_a_row_is_found_by_its_own_word_and_no_other_row_says_otherwise(layout: DriverLayout) -> None:
    for row in ROWS:
        for unit in row.units:
            status = row.error_status or 0
            found = decode_nvlink5(row.xid, unit, row.words[layout][1], status, layout)
            assert found is not None
            assert said(found) == said(row)


def test_without_a_driver_no_word_of_a_unit_is_read_in_two_ways() -> None:
    for row in ROWS:
        for layout in DriverLayout:
            unit, status = next(iter(row.units)), row.error_status or 0
            assert decode_nvlink5(row.xid, unit, row.words[layout][1], status, None) is not None
            found = {
                said(one) for one in nvlink5_catalog()[row.xid, unit] if fits_any(one, row.words[layout][1], status)
            }
            assert found == {said(row)}


def said(row: Nvlink5Entry) -> tuple[Severity, Action, int | None, str]:
    return row.severity, row.action, row.decided_by, row.look_at


def fits_any(row: Nvlink5Entry, word: int, status: int) -> bool:
    return any(row.fits(layout, word, status) for layout in DriverLayout)


@pytest.mark.parametrize(
    ("driver", "layout"),
    [
        ("570.148.08", DriverLayout.BEFORE_575),
        ("R570", DriverLayout.BEFORE_575),
        ("574.99", DriverLayout.BEFORE_575),
        ("575.51.03", DriverLayout.FROM_575),
        ("R580", DriverLayout.FROM_575),
        (" 610 ", DriverLayout.FROM_575),
        ("", None),
        ("unknown", None),
        ("12.4", None),
        ("\u0665\u0667\u0660", None),  # digits, but Arabic ones
        ("9" * 400, None),
    ],
)
def test_a_version_names_its_layout(driver: str, layout: DriverLayout | None) -> None:
    assert layout_of(driver) is layout

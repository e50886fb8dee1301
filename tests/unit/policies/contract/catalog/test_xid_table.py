"""The table of Xids is a set of facts: it changes on purpose or not at all."""

import hashlib
import pkgutil

import pytest

from policies.contract.catalog.xid import describe_xid, occurrence_key, xid_catalog
from policies.contract.vocabulary import Action, Severity

# Renew it with: sha256sum policies/contract/catalog/xid.csv
CHECKSUM = "b34ab4c3d8ecaa24ca2f847657d6fe6c70765050636dc4195c05200e3024f24d"


def test_the_table_is_the_one_that_was_checked() -> None:
    raw = pkgutil.get_data("policies.contract.catalog", "xid.csv")
    assert raw is not None
    assert hashlib.sha256(raw).hexdigest() == CHECKSUM


def test_every_row_is_read_once_and_in_the_words_of_the_contract() -> None:
    catalog = xid_catalog()
    assert len(catalog) == 175
    assert all(code == entry.code and entry.mnemonic and entry.source for code, entry in catalog.items())


@pytest.mark.parametrize(
    ("code", "severity", "bucket", "action"),
    [
        (13, Severity.WARNING, "application", Action.RESTART_PROCESS),
        (31, Severity.WARNING, "application", Action.RESTART_PROCESS),
        (43, Severity.INFO, "application", Action.RECORD),
        (45, Severity.WARNING, "symptom", Action.RECORD),
        (48, Severity.CRITICAL, "hardware", Action.RESET_GPU),
        (63, Severity.WARNING, "hardware", Action.RECORD),
        (79, Severity.CRITICAL, "hardware", Action.REPLACE_NODE),
        (94, Severity.ERROR, "hardware", Action.RESTART_PROCESS),
        (95, Severity.CRITICAL, "hardware", Action.RESET_GPU),
        (119, Severity.CRITICAL, "hardware", Action.RESET_GPU),
    ],
)
def test_the_codes_that_policies_stand_on(code: int, severity: Severity, bucket: str, action: Action) -> None:
    entry = describe_xid(code)
    assert (entry.severity, entry.bucket, entry.action) == (severity, bucket, action)


def test_a_code_nobody_described_is_an_error_and_never_critical() -> None:
    assert 999 not in xid_catalog()
    assert describe_xid(999).severity is Severity.ERROR
    assert describe_xid(999).action is Action.PAGE_OPERATOR


def test_every_mapped_action_exists() -> None:
    assert {entry.action for entry in xid_catalog().values()} <= set(Action)


@pytest.mark.parametrize(
    ("code", "architecture", "applies"),
    [
        (145, "hopper", False),
        (145, "blackwell", True),
        (74, "hopper", True),
        (74, "blackwell", False),
        (143, "ampere", False),
        (79, "ampere", True),
        (79, "volta", None),
        (999, "hopper", None),
    ],
)
def test_the_table_says_which_architectures_print_a_code(code: int, architecture: str, applies: bool | None) -> None:
    assert describe_xid(code).applies_to(architecture) is applies


def test_companions_share_a_key_of_their_gpu() -> None:
    assert {occurrence_key(code, "0000:4b:00") for code in (48, 63, 64, 94, 95)} == {"memory:0000:4b:00"}
    assert occurrence_key(79, "0000:4b:00") == "bus:0000:4b:00"
    assert occurrence_key(79, None) is None
    assert occurrence_key(13, "0000:4b:00") is None

"""The table of SXids is a set of facts: it changes on purpose or not at all."""

import hashlib
import pkgutil

from policies.contract.catalog.sxid import describe_sxid, sxid_catalog
from policies.contract.vocabulary import Severity

# Renew it with: sha256sum policies/contract/catalog/sxid.csv
CHECKSUM = "358d24be6d011a01ab9061e5e9a501476bd32a32bb0e12bcd4b75daf341d2a6c"


def test_the_table_is_the_one_that_was_checked() -> None:
    raw = pkgutil.get_data("policies.contract.catalog", "sxid.csv")
    assert raw is not None
    assert hashlib.sha256(raw).hexdigest() == CHECKSUM
    assert len(sxid_catalog()) == 420


def test_codes_have_the_severity_of_the_vendor_s_class() -> None:
    assert describe_sxid(10003).severity is Severity.CRITICAL
    assert describe_sxid(30001).severity is Severity.WARNING
    assert describe_sxid(10000).severity is Severity.ERROR
    assert describe_sxid(99999).severity is Severity.ERROR

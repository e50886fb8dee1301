"""Whose an archived record is: the name of its cluster, found in its first bytes where that is certain.

Decides when it is certain; in doubt the record is read as triage reads it, with its own steps. So two processes that
never heard of each other agree of each record which cluster's it is. It must not know what becomes of a record.
"""

import re

from functions.triage.sorting import check_sender
from policies.contract.envelope import parse_envelope

NOBODYS = ""
"""What no cluster is called: of a record that is no envelope, which triage rejects whoever takes it."""
# As `Envelope.to_json` begins: agents and intake write nothing else. The letters are those of an EKS cluster's name.
_BEGINNING = re.compile(rb'\{"schema_version":1,"node":\{"cluster":"([A-Za-z0-9._-]+)"')
_NODE, _CLUSTER = b'"node"', b'"cluster"'
_NODE_AT, _CLUSTER_AT = 20, 28  # where they stand in such a beginning
# Letters from a to z lie from \u0061 to \u007a.
_ESCAPE, _ESCAPED_LETTERS = b"\\", (b"\\u006", b"\\u007")


def cluster_of(body: bytes) -> str:
    """Return the cluster that triage would read from *body*; anything, but always the same, if it would reject it."""
    begins = _BEGINNING.match(body)
    if begins and _says_it_once(body):
        return begins[1].decode()
    try:
        envelope = parse_envelope(body).envelope
        check_sender(envelope)
    except Exception:  # noqa: BLE001 - whatever it is, triage meets it as well, and rejects this record alone
        return NOBODYS
    return envelope.node.cluster


def _says_it_once(body: bytes) -> bool:
    """Whether nothing behind its beginning may say otherwise: the last of equal keys counts, escapes spell keys too."""
    if body.rfind(_NODE) != _NODE_AT or body.rfind(_CLUSTER) != _CLUSTER_AT:
        return False
    return _ESCAPE not in body or not any(each in body for each in _ESCAPED_LETTERS)

"""Puts the findings of a batch into messages for coordinate: one a cluster, more only where the size demands it.

Decides how findings are cut into messages. The same findings always give the same messages, in whatever order they
came.
"""

from collections.abc import Iterable, Iterator

from functions.triage.packed import Encoder, PackedMessage
from policies.contract.decisions import Finding, FindingsMessage

# SQS allowed 256 KiB a message for years and some regions and clients still do; a tenth is left for attributes.
MESSAGE_LIMIT_BYTES = 230 * 1024
FINDING_LIMIT_BYTES = 64 * 1024  # a usual one has two thousand
_LEFT_OUT: tuple[dict[str, object], ...] = ({"attributes": {}, "messages": ()}, {"job": None}, {"component": None})


def pack(findings: Iterable[Finding]) -> list[FindingsMessage]:
    """Return the messages that carry *findings*, each finding once."""
    by_cluster: dict[str, dict[str, Finding]] = {}
    for finding in findings:
        by_cluster.setdefault(finding.node.cluster, {})[finding.id] = finding
    encoder = Encoder()
    return [
        PackedMessage.of(cluster, part)
        for cluster, found in sorted(by_cluster.items())
        for part in _parts([found[key] for key in sorted(found)], encoder)
    ]


def _parts(findings: list[Finding], encoder: Encoder) -> Iterator[list[tuple[Finding, str]]]:
    part: list[tuple[Finding, str]] = []
    size = 0
    for finding in findings:
        slim, text = _slim(finding, encoder)
        length = _bytes(text)
        if part and size + length > MESSAGE_LIMIT_BYTES:
            yield part
            part, size = [], 0
        part.append((slim, text))
        size += length + 1
    if part:
        yield part


def _slim(finding: Finding, encoder: Encoder) -> tuple[Finding, str]:
    """Return the finding with its JSON; one too large to travel goes without what is only for people or is junk."""
    text = encoder.encode(finding)
    for left_out in _LEFT_OUT:
        if _bytes(text) <= FINDING_LIMIT_BYTES:
            break
        finding = finding.model_copy(update=left_out)
        text = encoder.encode(finding)
    return finding, text


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())

"""What a line of a training rank's own log tells. The messages are in `training_rules`.

The rank that prints is usually the victim: an event from here says what happened to this rank, and where it only tells
that others are late or gone it is marked ``symptom``. It accuses nobody. Decides what is harmless, and which rank, peer
and operation a line names. It must not know what other lines or other ranks say.
"""

import re

from agent.parsers.sighting import Sighting
from agent.parsers.training_rules import RULES, TrainingRule
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind

_PROCESS = Component(type=ComponentType.PROCESS)
_RANK = re.compile(r"\[rank([0-9]{1,6})\]|\[Rank ([0-9]{1,6})\]|\bRank ([0-9]{1,6})\]|\bon rank: ([0-9]{1,6})\b")
_PEER = re.compile(r"(?:peer|to|from) \[?([0-9]{1,3}(?:\.[0-9]{1,3}){3})(?:<[0-9]{1,5}>|\]:[0-9]{1,5})")
# libfabric, prov/efa/src/rdm/efa_rdm_error.h: "My EFA addr: ... Peer EFA addr: ... Peer host id: i-0123456789abcdef0"
_REMOTE = re.compile(r"Peer host id: (i-[0-9a-f]{8,17})\b")
_OPERATION = re.compile(r"OpType=(\w{1,40})")
_SEQUENCE = re.compile(r"SeqNum=([0-9]{1,18})")
TEXT_LIMIT = 16 * 1024

# Said by healthy runs: information, libraries that are tried and not needed, the loopback address of IPv6 tried first,
# half-precision training that looks for its loss scale.
_HARMLESS = re.compile(
    r"NCCL INFO|Failed to open lib\w{1,32}\.so|NET/Plugin|errno: (?:97|99) - |OVERFLOW! Rank|DeprecationWarning|"
    r"FutureWarning"
    r"|[Nn]amespace\("
)


def parse_training_line(text: str) -> list[Sighting]:
    """Return what a line (or several that belong together) of a rank's log tells of; never raises."""
    text = text[:TEXT_LIMIT]
    if _HARMLESS.search(text):
        return []
    for rule in RULES:
        if match := rule.pattern.search(text):
            return [Sighting(rule.kind, rule.severity, _PROCESS, _attributes(rule, match, text))]
    return []


def _attributes(rule: TrainingRule, match: re.Match[str], text: str) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {"symptom": True} if rule.symptom else {}
    if rank := _RANK.search(text):
        found["rank"] = int(next(group for group in rank.groups() if group))
    if peer := _PEER.search(text):
        found["peer"] = peer[1]
    if remote := _REMOTE.search(text):
        found["remote"] = remote[1]
    if operation := _OPERATION.search(text):
        found["operation"] = operation[1]
    if sequence := _SEQUENCE.search(text):
        found["sequence"] = int(sequence[1])
    if rule.kind is Kind.PROCESS_EXITED and (code := next((group for group in match.groups() if group), None)):
        found["exit_code"] = int(code)
    return found

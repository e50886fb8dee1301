"""A parser as a table: patterns with what each of them means.

A pattern's named groups become attributes (whole numbers where they are digits), except ``index``, which says which
component. Within one table the first rule that fits a record wins: the kernel tells one fault in several lines of one
record. Nearly every record tells of no fault, so a plain search for a word comes before each pattern; patterns repeat
within bounds only, so the work is linear. It must not know a single fault.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.parsers.sighting import LineParser, Sighting
from policies.contract.events import Component, Scalar
from policies.contract.vocabulary import ComponentType, Kind, Persistence, Severity

_OF_COMPONENT = frozenset({"index"})
_TEXTS = frozenset(
    {"process", "server", "device", "container", "pod", "step_id"}
)  # a process may be called 7, and stays a text


@dataclass(frozen=True, slots=True)
class Rule:
    """Records that hold one of *words* and in which *pattern* is found tell of this."""

    kind: Kind
    severity: Severity
    component: ComponentType
    words: tuple[str, ...]
    pattern: re.Pattern[str]
    persistence: Persistence = Persistence.UNKNOWN


def rule(
    kind: Kind,
    severity: Severity,
    component: ComponentType,
    *patterns: str,
    words: tuple[str, ...],
    persistence: Persistence = Persistence.UNKNOWN,
) -> Rule:
    """Return the rule for records that hold one of *words* and fit one of *patterns*; each group has one name."""
    return Rule(kind, severity, component, words, re.compile("|".join(patterns)), persistence)


def first_match(rules: Sequence[Rule], text: str) -> list[Sighting]:
    """Return what the first of *rules* that fits *text* says, or nothing."""
    for candidate in rules:
        for word in candidate.words:
            if word in text:
                if match := candidate.pattern.search(text):
                    return [_sighting(candidate, match.groupdict())]
                break
    return []


def table(*tables: Sequence[Rule]) -> LineParser:
    """Return the parser that tells the first fit of the first of *tables* that has one."""
    words = dict.fromkeys(word for rules in tables for one in rules for word in one.words)
    everything = tuple(one for rules in tables for one in rules)
    return LineParser(lambda text, _layout: first_match(everything, text), tuple(words))


def _sighting(found: Rule, groups: dict[str, str | None]) -> Sighting:
    said = {name: value.strip() for name, value in groups.items() if value}
    attributes: dict[str, Scalar] = {
        name: _scalar(name, text) for name, text in said.items() if name not in _OF_COMPONENT
    }
    component = Component(
        type=found.component,
        index=int(said["index"]) if "index" in said else None,
    )
    return Sighting(found.kind, found.severity, component, attributes, found.persistence)


def _scalar(name: str, text: str) -> Scalar:
    return int(text) if name not in _TEXTS and text.isascii() and text.isdigit() else text

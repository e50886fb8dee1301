"""Looks policies over before they meet an event: what is refused, what is hardly meant, what is worth knowing.

Decides the order of what is told and where each mistake stands. It never raises, whatever the texts hold. It must not
know files: it gets names and texts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from policies.lint.acts import act_flaws
from policies.lint.conditions import condition_flaws
from policies.lint.counting import counting_flaws
from policies.lint.flaw import Flaw
from policies.lint.lines import line_of, lines_of
from policies.lint.operators import operator_flaws
from policies.lint.reading import Reading
from policies.lint.refusals import flaw_of
from policies.lint.severities import severity_flaws
from policies.lint.telling import telling_flaws
from policies.lint.timing import timing_flaws
from policies.lint.today import today_flaws
from policies.lint.together import flaws_together
from policies.loader import load_text
from policies.model import Policy

MOST_TOLD = 200  # of one policy; the guard's verdict, which has to fit on an item, holds ten
CHECKS: Sequence[Callable[[Reading], Iterator[Flaw]]] = (
    condition_flaws,
    operator_flaws,
    act_flaws,
    timing_flaws,
    counting_flaws,
    telling_flaws,
    today_flaws,
)


@dataclass(frozen=True)
class Written:
    """One policy as it was written: what its file is called (may be empty), and what stands in it."""

    name: str
    text: str | bytes


@dataclass(frozen=True)
class Linted:
    """What lint found in one text; ``policy`` is None when it is refused."""

    written: Written
    policy: Policy | None
    flaws: tuple[Flaw, ...]


def lint(texts: Sequence[Written]) -> list[Linted]:
    """Return what is wrong with each of *texts*, by itself and beside the others; never raises."""
    loaded = [load_text(written.text, most=MOST_TOLD) for written in texts]
    found: list[list[Flaw]] = [
        lint_policy(one) if isinstance(one, Policy) else [flaw_of(problem) for problem in one] for one in loaded
    ]
    policies = [(at, one) for at, one in enumerate(loaded) if isinstance(one, Policy)]
    for at, flaw in _names(texts, policies):
        found[at].append(flaw)
    readings = [Reading(one) for _at, one in policies]
    for at, flaw in (*severity_flaws(readings), *flaws_together(readings)):
        found[policies[at][0]].append(flaw)
    return [
        Linted(written, one if isinstance(one, Policy) else None, _placed(written, flaws))
        for written, one, flaws in zip(texts, loaded, found, strict=True)
    ]


def lint_policy(policy: Policy) -> list[Flaw]:
    """Return what is hardly meant in an accepted *policy*, by itself, and what is worth knowing of it."""
    read = Reading(policy)
    return list(dict.fromkeys(flaw for check in CHECKS for flaw in check(read)))


def _names(texts: Sequence[Written], policies: Sequence[tuple[int, Policy]]) -> Iterator[tuple[int, Flaw]]:
    first: dict[str, str] = {}
    for at, policy in policies:
        file = texts[at].name
        if policy.name in first:
            yield (
                at,
                Flaw.of(
                    "L114",
                    "name",
                    f"{policy.name} stands in {first[policy.name]} too.",
                    "Rename one: the later would take the other's place.",
                ),
            )
        first.setdefault(policy.name, file)
        stem = file.rpartition("/")[2].rpartition(".")[0]
        if stem and stem != policy.name:
            yield (
                at,
                Flaw.of(
                    "L115",
                    "name",
                    f"the file is called {stem}, the policy {policy.name}.",
                    "Call both alike: the table knows the name only.",
                ),
            )


def _placed(written: Written, flaws: Sequence[Flaw]) -> tuple[Flaw, ...]:
    lines: Mapping[str, int] = lines_of(_decoded(written.text)) if flaws else {}
    placed = (flaw.at(written.name, line_of(flaw.path, lines)) for flaw in flaws)
    return tuple(sorted(placed, key=lambda flaw: (flaw.line, flaw.code)))


def _decoded(text: str | bytes) -> str:
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text

"""Who asks for one severity and leaves worse ones out is told so, with a text that takes them in."""

import json
import re
from itertools import combinations

import pytest

from policies.contract.vocabulary import Severity
from policies.lint.flaw import Flaw
from tests.unit.policies.lint.mistakes import FREE, WHEN, document, flaws

SETS = [frozenset(some) for size in (1, 2, 3, 4) for some in combinations(Severity, size)]


def asks(severities: frozenset[Severity]) -> str:
    return f"{WHEN} && event.severity in {json.dumps(sorted(severities))}"


def told(*documents: dict[str, object]) -> list[Flaw]:
    return [flaw for flaw in flaws(*documents) if flaw.code == "L215"]


def leaves_worse_out(severities: frozenset[Severity]) -> bool:
    mildest = min(each.rank for each in severities)
    return bool(mildest) and len(severities) < len(Severity) - mildest


@pytest.mark.parametrize("asked", SETS, ids=lambda asked: "+".join(sorted(asked)))
def test_the_text_that_is_advised_asks_for_no_less_and_is_clean(asked: frozenset[Severity]) -> None:
    found = told(document(**{**FREE, "when": asks(asked)}))
    assert bool(found) == leaves_worse_out(asked)
    for flaw in found:
        (text,) = re.findall(r"event\.severity in \[[^]]+]", flaw.hint)
        advised = {Severity(word) for word in re.findall(r'"(\w+)"', text)}
        assert asked < advised == {each for each in Severity if each.rank >= min(one.rank for one in asked)}
        mended = flaws(document(**{**FREE, "when": f"{WHEN} && {text}"}))
        assert [each.code for each in mended] == [each.code for each in flaws(document(**FREE))]


def test_one_word_is_told_as_a_list_of_one_is() -> None:
    (flaw,) = told(document(**{**FREE, "when": f'{WHEN} && event.severity == "warning"'}))
    assert flaw.reason == "severity warning leaves error and critical out, and no other policy here asks for that."
    assert flaw.hint == 'At least so bad: event.severity in ["warning", "error", "critical"].'


WARNED = document(**{**FREE, "when": f'{WHEN} && event.severity == "warning"'})


@pytest.mark.parametrize(
    ("other", "left"),
    [
        ({"when": f'{WHEN} && event.severity in ["error", "critical"]'}, []),
        ({"when": WHEN}, []),
        ({"when": f'{WHEN} && event.severity == "critical"'}, ["error"]),
        ({"when": f'{WHEN} && event.severity in ["error", "critical"]', "mode": "off"}, ["error", "critical"]),
        ({"when": 'event.kind == "gpu.xid" && event.attributes.xid == 48'}, ["error", "critical"]),
    ],
)
def test_nothing_is_said_of_what_another_policy_asks_for(other: dict[str, object], left: list[str]) -> None:
    found = told(WARNED, document(**{**FREE, "name": "other", **other}))
    mine = [flaw for flaw in found if flaw.file == "lost-gpu.yaml"]
    assert [flaw.reason.split(" leaves ")[1].split(" out")[0] for flaw in mine] == (
        [" and ".join(left)] if left else []
    )


def test_another_alternative_of_the_same_policy_asks_for_them_as_well() -> None:
    when = f'({WHEN} && event.severity == "warning") || ({WHEN} && event.severity in ["error", "critical"])'
    assert told(document(**{**FREE, "when": when})) == []

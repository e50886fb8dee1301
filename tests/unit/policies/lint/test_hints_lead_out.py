"""Whoever writes what a hint shows has one flaw less, and none that was not there before."""

import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, get_args

import pytest
import yaml

from policies.contract.vocabulary import TOUCHES_NOTHING, Action
from policies.lint.codes import Level
from policies.lint.flaw import Flaw
from policies.lint.timing import LIMITS
from policies.model import Count, Limited, Policy, written_names
from tests.unit.policies.lint.mistakes import GONE, WHEN, document, flaws

_YAML = re.compile(r"\b(\w+): (\{(?:[^{}]|\{[^{}]*\})*\}|\[[^]]*\]|\w+(?:\.\w+)*)")
_FIELDS, _OF_COUNT = frozenset(written_names(Policy)), frozenset(written_names(Count))
_ALL = [action.value for action in Action if action is not Action.RECORD]
LADDERS = [
    *([one] for one in _ALL),
    *([*two] for two in combinations(_ALL, 2)),
    *([*three] for three in combinations(_ALL, 3) if "isolate" in three),
    ["isolate", "suspend_job", "resume_job"],
]
BARE = {"examples": GONE, "limits": GONE, "otherwise": GONE}
PROGRAMS = 'event.kind == "gpu.xid" && event.attributes.xid == 13'


def shown(hint: str) -> Iterator[Mapping[str, Any]]:
    """Yield what *hint* says to write: fields one by one, members of `count` together."""
    found = {name: yaml.safe_load(value) for name, value in _YAML.findall(hint)}
    pairs = [(name, yaml.safe_load(value)) for name, value in _YAML.findall(hint)]
    yield from ({name: value} for name, value in pairs if name in _FIELDS)
    counted = {name: value for name, value in found.items() if name in _OF_COUNT}
    if counted and "count" not in found:
        yield {"count": counted}


def mended(changes: Mapping[str, Any], written: Mapping[str, Any]) -> dict[str, Any]:
    merged = {"count": {**changes.get("count", {}), **written["count"]}} if "count" in written else {}
    return {**changes, **written, **merged}


def grave(changes: Mapping[str, Any]) -> list[Flaw]:
    return [flaw for flaw in flaws(document(**changes)) if flaw.level is not Level.NOTE]


def follow(changes: Mapping[str, Any]) -> set[str]:
    """Write what each hint of a policy with *changes* shows; return the codes of the hints that showed something.

    Of a policy that is refused nothing but problems is told, so its warnings come up once it is mended.
    """
    before, followed = grave(changes), set()
    refused = any(each.level is Level.PROBLEM for each in before)
    for flaw in before:
        for written in shown(flaw.hint):
            found = grave(mended(changes, written))
            after = {each.code for each in found}
            told = {each.code for each in found if not refused or each.level is Level.PROBLEM}
            assert told <= {each.code for each in before}, (flaw, written, told)
            assert flaw.code not in after, (flaw, written)
            followed.add(flaw.code)
    return followed


def test_whatever_is_done_a_hint_leads_to_no_other_flaw() -> None:
    followed = {code for ladder in LADDERS for code in follow({**BARE, "evidence": "transient", "do": ladder})}
    assert {"L305", "L110"} <= followed
    for ladder in (each for each in LADDERS if len(each) == 1 or "isolate" in each[:1]):
        follow({**BARE, "evidence": "latched", "do": ladder[:2]})


@pytest.mark.parametrize("settle", ["6m", "14m", "20m", "59m"])
def test_what_evidence_is_said_to_take_is_fresh_and_clears(settle: str) -> None:
    changes = {**BARE, "settle": settle, "evidence": "transient", "deadline": "2h"}
    assert "L304" in follow({**changes, "do": ["isolate", "reset_gpu"]})
    assert "L304" in follow({**changes, "do": ["isolate", "page_operator"]})
    for ladder in (["isolate"], ["suspend_job", "resume_job"]):
        follow({**changes, "do": ladder})


@pytest.mark.parametrize(
    ("ladder", "names"),
    [
        (["isolate"], ["isolations"]),
        (["isolate", "drain"], ["isolations"]),
        (["isolate", "page_operator"], ["isolations"]),
        (["isolate", "suspend_job", "resume_job"], ["isolations", "suspensions"]),
        (["suspend_job", "resume_job"], ["suspensions"]),
        (["restart_process"], ["restarts"]),
        (["restart_service"], ["restarts"]),
        (["requeue_job"], ["restarts"]),
        (["isolate", "reset_gpu", "resume_job"], ["resets"]),
        (["isolate", "reload_driver"], ["resets"]),
        (["isolate", "reboot_node"], ["reboots"]),
        (["isolate", "replace_node"], ["replacements"]),
        (["reclaim"], ["replacements"]),
    ],
)
def test_the_hint_of_a_limit_names_what_the_policy_does(ladder: list[str], names: list[str]) -> None:
    told = ", ".join(f"{name}: {{at_most: 2, within: 10m}}" for name in names)
    for changes in ({"do": ladder}, {"do": ["alert"], "otherwise": ladder}):
        (hint,) = [flaw.hint for flaw in grave({**BARE, **changes}) if flaw.code == "L305"]
        assert hint == f"limits: {{{told}}}"


def test_every_act_that_takes_something_out_of_service_asks_for_a_limit() -> None:
    assert set(LIMITS) == set(get_args(Limited))
    for act in _ALL:
        ladder = [act] if act != Action.REPLACE_NODE else ["isolate", act]
        asked = "L305" in {flaw.code for flaw in grave({**BARE, "do": ladder})}
        assert asked == (act not in TOUCHES_NOTHING | {Action.DEPRIORITISE}), act


def test_what_comes_first_is_what_an_incident_takes_its_shares_for() -> None:
    changes = {**BARE, "do": ["restart_process"], "otherwise": ["isolate", "replace_node", "resume_job"]}
    (hint,) = [flaw.hint for flaw in grave(changes) if flaw.code == "L305"]
    assert hint == "limits: {restarts: {at_most: 2, within: 10m}}"


@pytest.mark.parametrize(
    "count", [{"within": "30s", "occurrence": "30s"}, {"at_least": 3, "within": "1h"}, {"at_least": 400}]
)
@pytest.mark.parametrize("ladder", [["isolate"], ["isolate", "replace_node"], ["reset_gpu"]])
def test_a_programs_error_is_told_apart_by_its_jobs(ladder: list[str], count: Any) -> None:  # noqa: ANN401 - a count
    changes = {**BARE, "when": PROGRAMS, "do": ladder}
    assert "L301" in follow({**changes, "count": count})
    lasting = grave({**changes, "for": "5m"})
    assert [flaw.hint for flaw in lasting if flaw.code == "L301"] == ["Leave the node alone."]


@pytest.mark.parametrize("at_least", [2, 3, 20, 50, 51, 1000])
@pytest.mark.parametrize("within", ["5s", "1m", "10m", "1h", "1d"])
def test_occurrences_that_are_added_can_be_reached(at_least: int, within: str) -> None:
    changes = {**BARE, "when": WHEN, "count": {"at_least": at_least, "within": within}}
    assert "L403" in {flaw.code for flaw in grave(changes)}
    follow(changes)


@pytest.mark.parametrize("ladder", [["isolate"], [min(TOUCHES_NOTHING).value]])
def test_an_approval_is_added_only_where_something_could_be_approved(ladder: list[str]) -> None:
    follow({**BARE, "do": ladder, "approve_within": "10m"})


@pytest.mark.parametrize("ladder", [["isolate", "suspend_job", "resume_job"], ["isolate", "resume_job"]])
def test_the_ladder_that_is_advised_brings_a_node_and_has_no_flaw_of_its_own(ladder: list[str]) -> None:
    changes = {"do": ladder, "limits": {"isolations": {"at_most": 2, "within": "10m"}}}
    (hint,) = [flaw.hint for flaw in flaws(document(**changes)) if flaw.code == "L323"]
    (written,) = shown(hint)
    limits = {"limits": {"replacements": {"at_most": 2, "within": "10m"}}}
    assert flaws(document(**mended({**changes, **limits}, written))) == []

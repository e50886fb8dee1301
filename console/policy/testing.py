"""`relight policy test`: the examples of policies, each with how it ended and, where it failed, why."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from console.policy.files import read
from console.saying import say
from policies.examples import Outcome, outcomes, switched_on, tell
from policies.explain.explaining import World, explain
from policies.facts.snapshot import StatedFacts
from policies.lint.lint import Written
from policies.loader import load_text
from policies.model import Policy


def run_examples(files: Sequence[Path], *, as_json: bool) -> int:
    """Run the examples of the policies in *files* and print each; return the exit status."""
    told = [_of_file(written) for written in read(files)]
    failed = sum(not each["passed"] for one in told for each in one["examples"])
    refused = [one for one in told if one["refused"]]
    if as_json:
        print(json.dumps({"failed": failed, "policies": told}, ensure_ascii=False, indent=1))
    else:
        _print(told)
        passed = sum(each["passed"] for one in told for each in one["examples"])
        bad = f" {len(refused)} policies could not be run: relight policy lint." if refused else ""
        say(f"{passed} of {passed + failed} examples end as they say.{bad}")
    return 0 if not failed and not refused and len(told) == len(files) else 1


def _of_file(written: Written) -> dict[str, Any]:
    loaded = load_text(written.text, try_examples=False)
    if not isinstance(loaded, Policy):
        return {"file": written.name, "name": "", "examples": [], "refused": [str(problem) for problem in loaded]}
    examples = [_told(loaded, outcome) for outcome in outcomes(loaded)]
    return {"file": written.name, "name": loaded.name, "examples": examples, "refused": []}


def _told(policy: Policy, outcome: Outcome) -> dict[str, Any]:
    return {
        "says": outcome.example.says,
        "passed": outcome.passed,
        "findings": outcome.found,
        "expected": outcome.example.findings,
        "why": [] if outcome.passed else why(policy, outcome),
    }


def why(policy: Policy, outcome: Outcome) -> list[str]:
    """Return what became of each event, by the code that explains real ones."""
    lines = []
    deliveries = tell(outcome.example)
    world = World([switched_on(policy)], facts=StatedFacts(outcome.example.facts))
    for each in explain(deliveries, state="", world=world, now=deliveries[-1].arrived_at):
        verdict = each.verdicts[0]
        if each.event is not None or verdict.fired:
            at = f"{(each.moment - deliveries[0].arrived_at).total_seconds():g} s"
            lines.append(f"{at} {each.event.kind if each.event else 'heartbeat'}: {verdict.outcome}: {verdict.reason}")
    return lines


def _print(told: Sequence[dict[str, Any]]) -> None:
    for one in told:
        for line in one["refused"]:
            say(f"{one['file']}: {line}", file=sys.stderr)
        for each in one["examples"]:
            ends = "" if each["passed"] else f" (says {each['expected']} findings, {each['findings']} come out)"
            say(f"{'pass' if each['passed'] else 'FAIL'}  {one['name']}: {each['says']}{ends}")
            for line in each["why"]:
                say(f"        {line}")

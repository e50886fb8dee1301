"""Reads a policy from YAML text or from a DynamoDB item: the policy, or what is wrong with it. Never raises.

Decides whether a document is a policy that can be put into force: its fields, its expressions and its own examples. It
must not know where the document is kept.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from policies.contradictions import contradictions
from policies.documents import NotPlainError, canonical, operators_fields
from policies.examples import run_examples
from policies.expressions.checker import check
from policies.expressions.members import LISTS, is_member
from policies.facts.registry import FACTS
from policies.model import Count, Policy, PolicyFields
from policies.problems import Problem
from policies.refusing import MOST_PROBLEMS, bounded, told
from policies.yaml_text import LARGEST_BYTES, read_yaml

Loaded = Policy | list[Problem]
# What stands for a needed field that is wrong or missing while the others are looked at: nothing is told of it.
_ANY: Mapping[str, Any] = {"name": "any", "mode": "off", "why": "any", "when": "true", "do": ["record"]}


def load_text(text: str | bytes, *, try_examples: bool = True, most: int = MOST_PROBLEMS) -> Loaded:
    """Return the policy in the YAML *text*, or at *most* so many problems; of its examples only if they are tried."""
    document = read_yaml(text)
    if isinstance(document, list) and document and all(isinstance(one, Problem) for one in document):
        return document
    if not isinstance(document, Mapping):
        return [Problem.of("", "is no mapping of fields.", "Begin with `name: ...`, one field a line.")]
    return load_document(document, try_examples=try_examples, most=most)


def load_stored(text: str) -> Loaded:
    """Return the policy in the JSON *text* of an accepted revision; its examples were tried when it was accepted.

    Somebody may have edited it by hand since: whatever it holds must not stop the other policies.
    """
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        return [
            Problem.of("", "the head's document is no JSON object.", "Edit the live item: the guard writes the head.")
        ]
    return load_document(fields, try_examples=False)


def load_document(document: Mapping[Any, Any], *, try_examples: bool = True, most: int = MOST_PROBLEMS) -> Loaded:
    """Return the policy in *document*: parsed YAML, or a `live` item whose bookkeeping is passed over."""
    try:
        fields = operators_fields(document)
        size = len(canonical(fields).encode("utf-8", "replace"))
    except NotPlainError as error:
        path, _, reason = str(error).partition(": ")
        return [Problem.of(path, f"{reason}.", "Write text, numbers, true or false, lists and mappings.")]
    except RecursionError:
        return [Problem.of("", "is nested too deeply.", "Policies are flat.")]
    if size > LARGEST_BYTES:
        return [Problem.of("", f"has {size} bytes; at most {LARGEST_BYTES} are allowed.", "Split it.")]
    return _validate(fields, try_examples=try_examples, most=most)


def _validate(fields: Mapping[str, Any], *, try_examples: bool, most: int) -> Loaded:
    try:
        policy = Policy.model_validate(fields)
    except ValidationError as error:
        return bounded(_all_of(fields, error.errors(include_url=False)), most)
    problems = _problems(policy)
    if try_examples and not problems:
        problems = run_examples(policy)
    return bounded(problems, most) or policy


def _all_of(fields: Mapping[str, Any], details: Sequence[ErrorDetails]) -> list[Problem]:
    """Return what is wrong with *fields*: the model's *details*, and what its good fields are wrong about together."""
    mine = [detail for detail in details if detail["loc"]]  # the others are contradictions, with their fields below
    wrong = frozenset(str(detail["loc"][0]) for detail in mine)
    good = {name: value for name, value in fields.items() if name not in wrong}
    read = PolicyFields.model_validate({**{name: _ANY[name] for name in _ANY.keys() - good.keys()}, **good})
    apart = [
        Problem.of(one.path, f"{one.reason}.", one.hint) for one in contradictions(read) if not one.rests_on & wrong
    ]
    beside = [problem for problem in _problems(read) if problem.path.partition(".")[0] not in wrong]
    of_fields = told(mine)
    of_examples = [problem for problem in of_fields if problem.path.partition(".")[0] == "examples"]
    return [*(one for one in of_fields if one not in of_examples), *apart, *beside, *of_examples]


def _problems(policy: PolicyFields) -> list[Problem]:
    """Return what is wrong with the conditions of *policy*, and with the members that it counts by."""
    texts = (("when", policy.when), ("unless", policy.unless), ("cancel_when", policy.cancel_when))
    found = [problem for field, text in texts if text is not None for problem in check(text, field)]
    return [*found, *_named(policy.count)]


def _named(count: Count) -> list[Problem]:
    """Return what is wrong with the members that *count* names."""
    named = {"count.distinct": count.distinct, "count.same": count.same}
    found = [
        Problem.of(path, f"{member} is not known.", "Name a field, for example job.id.")
        for path, member in named.items()
        if member is not None and not is_member(member)
    ]
    found += [
        Problem.of(path, f"{member} is told by no event, and changes meanwhile.", "Ask for it in when or unless.")
        for path, member in named.items()
        if member in FACTS
    ]
    if count.same in LISTS:
        found.append(Problem.of("count.same", f"{count.same} is a list.", "Name a single value, or count per rack."))
    if count.same is not None and count.same == count.distinct:
        reason = f"{count.same} is the same in what counts together, so it is never distinct."
        found.append(Problem.of("count.same", reason, "Ask for another member, for example node.instance_id."))
    return found

"""One more example at the end of a policy's file; every other byte stays as it was.

Decides where in the text it goes. It must not know files, or whether the example passes.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from console.policy.yaml_writing import entry_as_yaml
from policies.contract.errors import BadInputError
from policies.documents import canonical, operators_fields
from policies.lint.lines import line_of, lines_of
from policies.yaml_text import read_yaml

_FIELD = re.compile(r"^examples[ \t]*:[ \t]*(.*?)[ \t]*\r?$", re.MULTILINE)
_EMPTY = re.compile(r"(?:\[[ \t]*\])?[ \t]*(?:#.*)?")
_ITEM = re.compile(r"^([ ]*)- ?", re.MULTILINE)
_INDENT = "  "
_CLAIMS = frozenset({"says", "findings"})
# How far the run was: an incident's notes have what its first event told, an archive what each did. It is another
# story only to a policy that asks for it.
_HOW_FAR = ("step", "epoch", "checkpoint")
_HINT = "Write examples as a list, one `- says: …` under the other; `relight policy record` without --write prints it."


@dataclass(frozen=True)
class There:
    """The example that tells a story already: its title, its end, and the line (from 1) where the end is written."""

    says: str
    findings: object
    line: int


def there_already(text: str, example: Mapping[str, Any]) -> There | None:
    """Return the example in *text*, the YAML of a policy, of the same events as *example*, whatever end it claims.

    Told twice with different ends, one of the two would be wrong whatever the policy does. How far the run was tells
    two stories apart only where the policy asks for it.
    """
    document = _read(text)
    unasked = frozenset(name for name in _HOW_FAR if f"job.{name}" not in _asked(document))
    for at, each in enumerate(_examples(document)):
        if _same(each, example, unasked):
            line = line_of(f"examples.{at}.findings", lines_of(text))
            return There(str(each.get("says", "")), each.get("findings"), line)
    return None


def appended(text: str, example: Mapping[str, Any]) -> str:
    """Return *text*, the YAML of a policy, with *example* as its last.

    BadInputError when *text* is not written in a way that leaves room for it.
    """
    before = _read(text)
    made = _inserted(text, example)
    wanted = {**before, "examples": [*_examples(before), dict(example)]}
    after = read_yaml(made)
    if not isinstance(after, dict) or canonical(operators_fields(after)) != canonical(operators_fields(wanted)):
        raise BadInputError("its examples are not written as a plain list.", hint=_HINT)
    return made


def _read(text: str) -> dict[str, Any]:
    read = read_yaml(text)
    if not isinstance(read, dict):
        raise BadInputError("it is no policy.", hint="`relight policy lint` says what is wrong with it.")
    return read


def _examples(document: Mapping[str, Any]) -> list[Any]:
    there = document.get("examples") or []
    return there if isinstance(there, list) else []


def _asked(document: Mapping[str, Any]) -> str:
    """Return the text of all that the policy asks: its conditions, and what it counts by."""
    count = document.get("count")
    places = [document.get(name) for name in ("when", "unless", "cancel_when")]
    places += [count.get(name) for name in ("same", "distinct")] if isinstance(count, Mapping) else []
    return "\n".join(str(each) for each in places if each)


def _inserted(text: str, example: Mapping[str, Any]) -> str:
    end = "\r\n" if "\r\n" in text else "\n"
    field = _FIELD.search(text)
    if field is None:
        whole = text if not text or text.endswith("\n") else text + end
        return f"{whole}examples:{end}{_entry(example, _INDENT, end)}"
    if not _EMPTY.fullmatch(field[1]):
        raise BadInputError("its examples stand on one line.", hint=_HINT)
    empty = field[1].startswith("[")
    head = text[: field.start(1)].rstrip() + field[1].partition("]")[2] if empty else text[: field.end(1)]
    body, rest = _split(text[field.end(1) :])
    item = _ITEM.search(body)
    indent = item[1] if item else _INDENT
    if not body.endswith("\n"):
        body += end
    return f"{head}{body}{_entry(example, indent, end)}{rest}"


def _split(after: str) -> tuple[str, str]:
    """Return the list of examples, from the end of its field's line on, and what comes behind it."""
    lines = after.splitlines(keepends=True)
    last = 0
    for at, line in enumerate(lines):
        bare = line.rstrip("\r\n")
        if at and bare.strip() and not bare.startswith((" ", "-", "#")):
            break
        if bare.strip() and not bare.startswith("#"):
            last = at
    return "".join(lines[: last + 1]), "".join(lines[last + 1 :])


def _entry(example: Mapping[str, Any], indent: str, end: str) -> str:
    return "".join(f"{line}{end}" for line in entry_as_yaml(example, indent))


def _same(there: object, example: Mapping[str, Any], unasked: Collection[str]) -> bool:
    """Whether *there* is the same story, whatever it is called and however it is said to end."""
    if not isinstance(there, Mapping):
        return False
    first, second = (canonical(operators_fields(_story(each, unasked))) for each in (there, example))
    return first == second


def _story(example: Mapping[str, Any], unasked: Collection[str]) -> dict[str, Any]:
    """Return what *example* tells, without what it claims and what nobody asks for of its runs."""
    told = {name: value for name, value in example.items() if name not in _CLAIMS}
    events = told.get("events")
    if isinstance(events, list):
        told["events"] = [_event(each, unasked) for each in events]
    return told


def _event(event: object, unasked: Collection[str]) -> object:
    job = event.get("job") if isinstance(event, Mapping) else None
    if not isinstance(event, Mapping) or not isinstance(job, Mapping):
        return event
    return {**event, "job": {name: value for name, value in job.items() if name not in unasked}}

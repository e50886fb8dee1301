"""Writes a policy as the shipped files look: the fields in their order, short maps in braces, long text folded.

Decides the form only, and reads each text back: what would read as another policy is never returned. A file that is
there keeps its comments: only fields that differ are written anew. It must not know files or tables.
"""

import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel

from policies.contract.events import Component, JobRef
from policies.documents import canonical, operators_fields
from policies.model import Acts, Count, LimitRule, Policy, Schedule, written_names
from policies.yaml_text import read_yaml

WIDTH = 120
_INDENT = "  "
_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"  # what Windows writes before UTF-8
_WORD = re.compile(r"[A-Za-z_][\w.-]*|\d+(?:ms|s|m|h|d)(?:\d+(?:s|m|h))*")
_BLOCKS = frozenset({"limits", "cites", "examples"})  # a line an entry, however short
_FIELD = re.compile(r"^([A-Za-z_]\w*):")
# What other readers of YAML take for a number, a time or a day.
_NUMERIC = re.compile(r"[\d_:.,eExXoObB+-]+")
Order = Mapping[str, int]


def _order(*words: str, models: Sequence[type[BaseModel]] = ()) -> Order:
    every = [*words, *(word for model in models for word in written_names(model))]
    return {word: place for place, word in enumerate(dict.fromkeys(every))}


_POLICY = _order(models=(Policy,))
_EXAMPLE = _order("says", "instance_type", "driver_version", "facts", "events", "until", "findings")
# Of an event: first what happened, then how often and when.
_EVENT = _order("kind", "node", "rack", "severity", "component", "job", "attributes", "message", "count", "after")
_PARTS = _order("at_least", "at_most", "percent", models=(LimitRule, Count, Acts, Schedule, Component, JobRef))


def as_yaml(fields: Mapping[str, Any]) -> str:
    """Return the operator's *fields* as a file."""
    own = operators_fields(fields)
    text = "".join(_field(name, own[name]) for name in _keys(own, _POLICY))
    # A key of more than 1024 characters is none to YAML 1.2 (7.4.2) unless it is marked as one; the library marks it,
    # but folds some words so that they read as others.
    return text if reads_as(text, own) else f"{_all_quoted(own)}\n"


def entry_as_yaml(value: Mapping[str, Any], indent: str) -> list[str]:
    """Return the lines of *value* as one entry of a list."""
    return _entry(dict(value), indent)


def patched(text: str, fields: Mapping[str, Any]) -> str:
    """Return *text* (a policy's file) with what differs from *fields* written anew; the rest stays.

    So do its comments, the ends of its lines and the mark before its first.
    """
    mark = _MARK if text.startswith(_MARK) else ""
    made = _patched(text.removeprefix(mark).replace("\r\n", "\n"), fields)
    return mark + (made.replace("\n", "\r\n") if "\r\n" in text else made)


def _patched(text: str, fields: Mapping[str, Any]) -> str:
    own, there = operators_fields(fields), read_yaml(text)
    if not isinstance(there, dict):
        return as_yaml(own)
    blocks = _blocks(text)
    kept = {
        name: lines if there.get(name) == own[name] else _renewed(name, lines, own)
        for name, lines in blocks
        if name in own
    }
    order = [*kept]
    for name in _keys(own, _POLICY):
        if name not in kept:
            kept[name] = _field(name, own[name])
            later = (at for at, other in enumerate(order) if _POLICY.get(other, 999) > _POLICY.get(name, 999))
            order.insert(next(later, len(order)), name)
    written = "".join(kept[name] for name in order)
    return written if reads_as(written, own) else as_yaml(own)


def reads_as(text: str, fields: Mapping[str, Any]) -> bool:
    """Whether the YAML *text* is the very document *fields*."""
    found = read_yaml(text)
    return isinstance(found, dict) and canonical(operators_fields(found)) == canonical(operators_fields(fields))


def _blocks(text: str) -> list[tuple[str, str]]:
    """Return the lines of each field, comments before it among them."""
    blocks: list[tuple[str, list[str]]] = []
    waiting: list[str] = []
    for line in text.splitlines(keepends=True):
        started = _FIELD.match(line)
        if started:
            blocks.append((started[1], [*waiting, line]))
            waiting = []
        elif not blocks or line.startswith("#") or not line.strip():
            waiting.append(line)
        else:
            blocks[-1][1].extend([*waiting, line])
            waiting = []
    if blocks:
        blocks[-1][1].extend(waiting)
    return [(name, "".join(lines).rstrip("\n") + "\n") for name, lines in blocks]


def _renewed(name: str, lines: str, own: Mapping[str, Any]) -> str:
    """Return the field anew under the comments that stood above it."""
    above = []
    for line in lines.splitlines(keepends=True):
        if _FIELD.match(line):
            break
        above.append(line)
    return "".join(above) + _field(name, own[name])


def _keys(value: Mapping[str, Any], order: Order | None = None) -> list[str]:
    """Return the keys of *value* in the order in which people write them."""
    if order is None:
        order = _EXAMPLE if "says" in value else _EVENT if "kind" in value else _PARTS
    return sorted(value, key=lambda key: (order.get(key, len(order)), key))


def _field(name: str, value: object) -> str:
    return "".join(f"{line}\n" for line in _lines(name, value, ""))


def _lines(name: str, value: object, indent: str) -> list[str]:
    """Return ``name: value``, on one line where it fits."""
    if isinstance(value, str):
        return _text_lines(name, value, indent)
    if not isinstance(value, Mapping | list) or not value:
        return [f"{indent}{_word(name)}: {_flow(value)}"]
    on_one = f"{indent}{_word(name)}: {_flow(value)}"
    if name not in _BLOCKS and len(on_one) <= WIDTH and not _is_list_of_maps(value):
        return [on_one]
    if isinstance(value, Mapping):
        inner = [line for key in _keys(value) for line in _lines(key, value[key], indent + _INDENT)]
        return [f"{indent}{_word(name)}:", *inner]
    return [f"{indent}{_word(name)}:", *(line for one in value for line in _entry(one, indent + _INDENT))]


def _is_list_of_maps(value: object) -> bool:
    return isinstance(value, list) and len(value) > 1 and isinstance(value[0], Mapping)


def _entry(value: object, indent: str) -> list[str]:
    """Return one entry of a list."""
    on_one = f"{indent}- {_flow(value) if not isinstance(value, str) else _scalar(value, flow=False)}"
    if not isinstance(value, Mapping) or ("says" not in value and len(on_one) <= WIDTH):
        return [on_one]
    inner = [line for key in _keys(value) for line in _lines(key, value[key], indent + _INDENT)]
    return [f"{indent}- {inner[0].lstrip()}", *inner[1:]]


def _text_lines(name: str, value: str, indent: str) -> list[str]:
    on_one = f"{indent}{_word(name)}: {_scalar(value, flow=False)}"
    odd = not value.isprintable() or value != " ".join(value.split())  # no line of it may be broken and joined again
    if len(on_one) <= WIDTH or odd or name == "message":
        return [on_one]
    folded = textwrap.wrap(value, WIDTH - len(indent) - len(_INDENT), break_long_words=False, break_on_hyphens=False)
    return [f"{indent}{_word(name)}: >-", *(f"{indent}{_INDENT}{line}" for line in folded)]


def _flow(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_word(key)}: {_flow(value[key])}" for key in _keys(value)) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(one) for one in value) + "]"
    if isinstance(value, str):
        return _scalar(value, flow=True)
    return json.dumps(value)


def _all_quoted(value: object) -> str:
    """Return *value* on one line with every word in quotes and every key marked: ugly, and never another value."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"? {_quoted(key)} : {_all_quoted(value[key])}" for key in _keys(value)) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_all_quoted(one) for one in value) + "]"
    return _quoted(value) if isinstance(value, str) else _flow(value)


def _word(name: str) -> str:
    return _scalar(name, flow=True)


@cache
def _scalar(text: str, *, flow: bool) -> str:
    """Return *text* plain where it reads as itself, also by readers that take 10:30 for a number; else in quotes."""
    if _WORD.fullmatch(text):
        plain = read_yaml(f"k: {text}") == {"k": text}
        return text if plain else _quoted(text)
    frame = "k: [{}]" if flow else "k: {}"
    risky = not text or not text.isprintable() or _NUMERIC.fullmatch(text)
    if not risky and read_yaml(frame.format(text)) == {"k": [text] if flow else text}:
        return text
    return _quoted(text)


def _quoted(text: str) -> str:
    """Return *text* in double quotes, with escapes for all that does not show."""
    return '"' + "".join(_escaped(each) for each in text) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"

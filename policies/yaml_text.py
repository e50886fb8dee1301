"""Reads YAML that nobody has vouched for: plain values only, bounded in size and depth.

Decides what of YAML is allowed: no tags, anchors, aliases (a few lines of them grow to gigabytes) or doubled keys, and
YAML 1.2's scalars, so that `mode: off` is a word and `1:30` no number. It must not know policies.
"""

import re
from collections import Counter
from collections.abc import Hashable
from typing import Any

import yaml

from policies.problems import Problem

LARGEST_BYTES = 64 * 1024
DEEPEST = 12


class _Loader(yaml.SafeLoader):
    """SafeLoader with YAML 1.2's core scalars and no key twice."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002 - PyYAML's signature
        keys = [key.value for key, _value in node.value]
        doubled = sorted(str(key) for key, times in Counter(map(str, keys)).items() if times > 1)
        if doubled:
            raise yaml.constructor.ConstructorError(None, None, f"{doubled[0]} stands twice", node.start_mark)
        return super().construct_mapping(node, deep)


_CORE = (
    ("tag:yaml.org,2002:bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("tag:yaml.org,2002:int", r"^[-+]?[0-9]+$", "-+0123456789"),
    ("tag:yaml.org,2002:float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$", "-+0123456789."),
    ("tag:yaml.org,2002:null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
)
for _tag, _pattern, _first in _CORE:
    _Loader.add_implicit_resolver(_tag, re.compile(_pattern), list(_first))


def read_yaml(text: str | bytes) -> object | list[Problem]:
    """Return the plain value in *text* (one document), or a list of problems; never raises."""
    size = len(text) if isinstance(text, bytes) else len(text.encode("utf-8", "replace"))
    if size > LARGEST_BYTES:
        return [Problem.of("", f"has {size} bytes; at most {LARGEST_BYTES} are allowed.", "Split it.")]
    try:
        decoded = text.decode("utf-8") if isinstance(text, bytes) else text
        refused = _refuse(decoded)
        return refused or yaml.load(decoded, Loader=_Loader)  # noqa: S506 - a SafeLoader, made narrower
    except UnicodeDecodeError:
        return [Problem.of("", "is not UTF-8 text.", "Save it as UTF-8.")]
    except yaml.YAMLError as error:
        return [Problem.of("", f"is no YAML: {_told(error)}", "Indent with spaces, one `field: value` a line.")]
    except (ValueError, RecursionError) as error:
        return [Problem.of("", f"cannot be read ({type(error).__name__}).", "Write plain text and numbers.")]


def _refuse(text: str) -> list[Problem]:
    """Look at the events only, which costs nothing whatever the text would grow into."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        line = event.start_mark.line + 1 if event.start_mark else 0
        if depth > DEEPEST:
            return [Problem.of("", f"line {line} is nested deeper than {DEEPEST} levels.", "Policies are flat.")]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            return [Problem.of("", f"line {line} has an anchor or alias.", "Write the value out.")]
        if getattr(event, "tag", None):
            return [Problem.of("", f"line {line} has a tag.", "Write plain text, numbers, lists and mappings.")]
    return []


def _told(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or str(error)
    return f"line {mark.line + 1}, {what}." if mark else f"{what}."

"""What differs between two documents of one policy, field by field. It must not know where they are kept."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MISSING = "\0missing"
_SHORT = 60
_LONGEST = 400


@dataclass(frozen=True)
class Change:
    """One field that differs; ``path`` is dotted. What is not there is MISSING."""

    path: str
    before: Any
    after: Any

    def document(self) -> dict[str, Any]:
        """Return it for machines; what is not there is left out."""
        sides = {"before": self.before, "after": self.after}
        return {"path": self.path, **{side: value for side, value in sides.items() if value != MISSING}}

    def lines(self) -> Iterator[str]:
        """Yield it for people: one line where both are short."""
        if self.before == MISSING:
            yield f"+ {self.path}: {told(self.after)}"
        elif self.after == MISSING:
            yield f"- {self.path}: {told(self.before)}"
        elif len(told(self.before)) + len(told(self.after)) <= _SHORT:
            yield f"~ {self.path}: {told(self.before)} → {told(self.after)}"
        else:
            yield f"~ {self.path}:"
            yield f"    - {told(self.before)}"
            yield f"    + {told(self.after)}"


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Return what became of *before*, in order of the fields."""
    return list(_of_maps(before, after, ""))


def _of_maps(before: Mapping[str, Any], after: Mapping[str, Any], path: str) -> Iterator[Change]:
    for key in dict.fromkeys([*before, *after]):
        yield from _of(before.get(key, MISSING), after.get(key, MISSING), f"{path}.{key}" if path else str(key))


def _of(before: object, after: object, path: str) -> Iterator[Change]:
    if before == after and isinstance(before, bool) == isinstance(after, bool):
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        yield from _of_maps(before, after, path)
    elif _are_stories(before) and _are_stories(after):
        yield from _of_maps(_by_name(before), _by_name(after), path)
    else:
        yield Change(path, before, after)


def _are_stories(value: object) -> bool:
    """Whether it is a list of examples, each with a name of its own."""
    if not isinstance(value, list) or not all(isinstance(one, Mapping) and "says" in one for one in value):
        return False
    return len({str(one["says"]) for one in value}) == len(value)


def _by_name(stories: object) -> dict[str, Any]:
    assert isinstance(stories, list)
    return {f"“{one['says']}”": one for one in stories}


def told(value: object) -> str:
    """Return *value* in a few words."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def in_brief(found: Sequence[Change], most: int = 4) -> str:
    """Return what changed in one line."""
    words = [_brief(each) for each in found[:most]]
    return ", ".join(words) + (f" and {len(found) - most} more" if len(found) > most else "")


def _brief(change: Change) -> str:
    (line, *more) = change.lines()
    return line if not more and len(line) <= _SHORT else f"~ {change.path}"

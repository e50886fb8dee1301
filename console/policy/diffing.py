"""What differs between two documents of one policy, field by field. It must not know where they are kept."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from policies.problems import place_of
from policies.wording import first_few

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
        """Yield it for people: one line where both are short; of a whole example a line for each of its fields."""
        place = _place(self.path)
        if MISSING in (self.before, self.after):
            sign, (value,) = ("+", [self.after]) if self.before == MISSING else ("-", [self.before])
            if len(told(value)) <= _SHORT or not isinstance(value, Mapping):
                yield f"{sign} {place}: {told(value)}"
                return
            yield f"{sign} {place}:"
            yield from (f"    {sign} {line}" for line in _parts(value))
        elif len(told(self.before)) + len(told(self.after)) <= _SHORT:
            yield f"~ {place}: {told(self.before)} → {told(self.after)}"
        else:
            yield f"~ {place}:"
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
    elif _are_maps(before) and _are_maps(after):
        yield from _of_lists(before, after, path)
    else:
        yield Change(path, before, after)


def _of_lists(before: Sequence[Any], after: Sequence[Any], path: str) -> Iterator[Change]:
    """Yield what became of the events of an example, each by its place in what is longer; what both share is left out.

    One that was put in or taken out between others is told as that, not as a change of all behind it.
    """
    most = min(len(before), len(after))
    first = next((at for at in range(most) if before[at] != after[at]), most)
    last = next((at for at in range(most - first) if before[-1 - at] != after[-1 - at]), most - first)
    old, new = before[first : len(before) - last], after[first : len(after) - last]
    for at in range(max(len(old), len(new))):
        was, is_now = (side[at] if at < len(side) else MISSING for side in (old, new))
        yield from _of(was, is_now, f"{path}.{first + at}")


def _are_maps(value: object) -> TypeGuard[list[Mapping[str, Any]]]:
    return isinstance(value, list) and all(isinstance(one, Mapping) for one in value)


def _place(path: str) -> str:
    """Return *path* for people, who count from 1; what an example is called stays as it is."""
    head, quote, rest = path.rpartition("”")
    return f"{head}{quote}{place_of(rest)}"


def _parts(value: Mapping[str, Any]) -> Iterator[str]:
    """Yield the fields of *value*, and of a list each of its mappings, in a line each."""
    for key, inner in value.items():
        if _are_maps(inner) and inner:
            yield from (f"{key} #{at}: {told(one)}" for at, one in enumerate(inner, start=1))
        else:
            yield f"{key}: {told(inner)}"


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
    return first_few([_brief(each) for each in found], most)


def _brief(change: Change) -> str:
    (line, *more) = change.lines()
    return line if not more and len(line) <= _SHORT else f"~ {change.path}"

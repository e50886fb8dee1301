"""Tells what a document is refused for: each mistake once, those of the rule before those of its examples.

Decides which of pydantic's words a person is told and in which order. It must not judge: the model did.
"""

import re
from collections.abc import Iterable, Sequence
from typing import get_args

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from policies.model import Policy, written_names
from policies.problems import Problem
from policies.refused_words import place_of, words_of
from policies.similar import similar

MOST_PROBLEMS = 10
_HINTS = {"('name',)": "Use lower-case words joined by hyphens, for example gpu-fell-off-the-bus."}
_EXAMPLES = "examples"
# A list whose entries were refused is counted without them; that it is too short then is no mistake of its own.
_COUNTED = frozenset({"too_short", "too_long"})


def told(details: Sequence[ErrorDetails]) -> list[Problem]:
    """Return what the model refused, in the order in which it is best mended."""
    wrong = [detail["loc"] for detail in details]
    meant = [detail for detail in details if not _follows(detail, wrong)]
    found = (_problem(detail) for detail in sorted(meant, key=lambda detail: detail["loc"][:1] == (_EXAMPLES,)))
    return list(dict.fromkeys(found))


def bounded(problems: list[Problem], most: int) -> list[Problem]:
    """Return at most so many of them, and how many more there are."""
    more = len(problems) - most
    return [*problems[:most], Problem.of("", f"has {more} more problems.")] if more > 0 else problems


def _follows(detail: ErrorDetails, wrong: Sequence[tuple[int | str, ...]]) -> bool:
    """Whether it only follows from what is wrong within."""
    here = detail["loc"]
    return detail["type"] in _COUNTED and any(len(loc) > len(here) and loc[: len(here)] == here for loc in wrong)


def _problem(detail: ErrorDetails) -> Problem:
    path = ".".join(str(part) for part in place_of(detail))
    last = str(detail["loc"][-1])[:64] if detail["loc"] else ""
    if detail["type"] == "missing":
        return Problem.of(path, "is missing.", f"Add `{last}: ...`.")
    if detail["type"] == "extra_forbidden":
        fields = written_names(_model_at(detail["loc"]))
        return Problem.of(path, "is no field of a policy.", _similar(last, fields))
    if detail["type"] in {"enum", "literal_error"}:
        known = re.findall(r"'([^']*)'", str(detail.get("ctx", {}).get("expected", "")))
        return Problem.of(
            path, f"{str(detail['input'])[:64]!r} is not known.", _similar(str(detail["input"])[:64], known)
        )
    if detail["type"] in {"model_type", "dict_type"}:
        return Problem.of(
            path, f"is no mapping of fields, but {_kind(detail['input'])}.", "Write `{field: value, ...}`."
        )
    if detail["type"] == "tuple_type":
        one = detail["input"]
        hint = f"Write {last}: [{one}]." if isinstance(one, str | int | float) else "Write `[one, another]`."
        return Problem.of(path, "is a list.", hint)
    return Problem.of(path, f"{words_of(detail)}.", _HINTS.get(str(detail["loc"][-1:]), ""))


def _model_at(loc: tuple[int | str, ...]) -> type[BaseModel]:
    """Return the model whose fields are meant at *loc*."""
    model: type[BaseModel] = Policy
    for part in loc[:-1]:
        field = next((field for name, field in model.model_fields.items() if (field.alias or name) == part), None)
        model = (_model_in(field.annotation) if field else None) or model
    return model


def _model_in(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _model_in(inner))), None)


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list) else str(value)[:64]


def _similar(word: str, known: Iterable[str]) -> str:
    near = similar(word, frozenset(known), most=1)
    return f"Did you mean {', '.join(near)}?" if near else f"Known: {', '.join(known)}."

"""`relight policy list`: policies of a folder or of the table, a line each, or whole for machines."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from console.policy.files import read
from console.saying import say
from policies.lint.codes import Level
from policies.lint.flaw import Flaw
from policies.lint.lint import Linted, lint, lint_policy
from policies.lint.reading import Reading, kinds_of
from policies.loader import load_document
from policies.model import Policy

Row = dict[str, Any]


def row_of(policy: Policy, flaws: Sequence[Flaw] = ()) -> Row:
    """Return what a list shows of *policy*."""
    tied = [kinds_of(branch) for branch in Reading(policy).possible]
    kinds = sorted({kind for kinds in tied for kind in kinds or ()})
    return {
        "name": policy.name,
        "mode": policy.mode.value,
        "revision": None,
        "kinds": kinds if kinds and all(tied) else ["any"],
        "do": [action.value for action in policy.do],
        "otherwise": [action.value for action in policy.otherwise],
        "limits": {name: rule.model_dump(mode="json", exclude_none=True) for name, rule in policy.limits.items()},
        "examples": len(policy.examples),
        "problems": sum(flaw.level is Level.PROBLEM for flaw in flaws),
        "warnings": sum(flaw.level is Level.WARNING for flaw in flaws),
    }


def list_files(files: Sequence[Path], *, as_json: bool) -> int:
    """Print the policies in *files*; the exit status is 1 when one of them cannot be read."""
    rows = [_of_text(linted) for linted in lint(read(files))]
    if as_json:
        as_document(rows)
    else:
        for row in rows:
            say(line_of(row))
    return 0 if len(rows) == len(files) else 1


def _of_text(linted: Linted) -> Row:
    if linted.policy is not None:
        return row_of(linted.policy, linted.flaws)
    nothing: Row = {"kinds": [], "do": [], "otherwise": [], "limits": {}, "examples": 0, "warnings": 0}
    name = Path(linted.written.name).stem
    return {"name": name, "mode": "refused", "revision": None, **nothing, "problems": len(linted.flaws)}


def of_document(document: Mapping[str, Any], fields: Mapping[str, Any]) -> Row:
    """Return the row of an accepted *document*; *fields* say what the table knows better.

    Of one that somebody broke by hand only its problems are known.
    """
    loaded = load_document(document, try_examples=False)
    row = row_of(loaded, lint_policy(loaded)) if isinstance(loaded, Policy) else {"problems": len(loaded)}
    return {**row, **fields}


def line_of(row: Row) -> str:
    """Return a policy in one line."""
    wrong = f"  {row['problems']} problems" if row["problems"] else ""
    examples = f"{row['examples']} examples"
    return f"{row['name']:<40} {row['mode']:<7} {_few(row['kinds']):<32} {', '.join(row['do']):<38} {examples}{wrong}"


def _few(words: Sequence[str]) -> str:
    return ", ".join(words[:2]) + (f" and {len(words) - 2} more" if len(words) > 2 else "")  # noqa: PLR2004 - the two


def as_document(rows: Sequence[Row], **more: object) -> None:
    """Print *rows* for machines."""
    print(json.dumps({**more, "policies": list(rows)}, ensure_ascii=False, indent=1))

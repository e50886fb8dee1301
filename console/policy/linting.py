"""`relight policy lint`, and the same look before a push or a mode: problems on standard error, all else on output."""

import json
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from console.policy.files import read
from console.saying import say
from policies.lint.codes import Level
from policies.lint.flaw import Flaw
from policies.lint.lint import Linted, lint, lint_policy
from policies.loader import load_document
from policies.model import Policy


def lint_files(files: Sequence[Path], *, as_json: bool, strict: bool) -> int:
    """Print what is wrong with the policies in *files*; return the exit status."""
    linted = lint(read(files))
    tally = Counter(flaw.level for each in linted for flaw in each.flaws)
    good = sum(is_good(each) for each in linted)
    if as_json:
        flaws = [flaw.document() for each in linted for flaw in each.flaws]
        levels = {f"{level}s": tally[level] for level in Level}
        print(
            json.dumps({"policies": len(files), "good": good, **levels, "flaws": flaws}, ensure_ascii=False, indent=1)
        )
    else:
        tell(linted)
        more = ", ".join(
            f"{tally[level]} {level}{'s' * (tally[level] > 1)}" for level in (Level.WARNING, Level.NOTE) if tally[level]
        )
        say(f"{good} of {len(files)} policies are good.{f' {more}.' if more else ''}")
    return 0 if good == len(files) and not (strict and tally[Level.WARNING]) else 1


def is_good(linted: Linted) -> bool:
    """Whether nothing speaks against putting it into force."""
    return not any(flaw.level is Level.PROBLEM for flaw in linted.flaws)


def tell(linted: Sequence[Linted], *, notes: bool = True) -> None:
    """Print every flaw, a line each; those that are only worth knowing with *notes*."""
    for each in linted:
        for flaw in each.flaws if notes else [one for one in each.flaws if one.level is not Level.NOTE]:
            say(str(flaw), file=sys.stderr if flaw.level is Level.PROBLEM else sys.stdout)


def tell_warnings(document: Mapping[str, Any], known: Collection[Flaw] = ()) -> list[Flaw]:
    """Print, and return, what is hardly meant in *document*, which has the mode that it is to get.

    What is *known* of it is left out, and of what is refused others tell.
    """
    policy = load_document(document, try_examples=False)
    if not isinstance(policy, Policy):
        return []
    told = {(flaw.code, flaw.path) for flaw in known}
    found = [flaw.at(policy.name, 0) for flaw in lint_policy(policy) if flaw.level is Level.WARNING]
    new = [flaw for flaw in found if (flaw.code, flaw.path) not in told]
    for flaw in new:
        say(str(flaw))
    return new

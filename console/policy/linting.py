"""`relight policy lint`, and the same look before a push: problems on standard error, the rest on standard output."""

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from console.policy.files import read
from console.saying import say
from policies.lint.codes import Level
from policies.lint.lint import Linted, lint


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
        more = ", ".join(f"{tally[level]} {level}s" for level in (Level.WARNING, Level.NOTE) if tally[level])
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

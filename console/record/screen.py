"""What `relight policy record` prints: the example on standard output, what came out of it on standard error."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from console.policy.testing import why
from console.policy.yaml_writing import entry_as_yaml
from console.record.appending import There
from console.record.reading import Material
from console.saying import say
from policies.examples import Outcome
from policies.recording.making import Recording


@dataclass(frozen=True)
class Printed:
    """``file``: where it was to go. ``there``: the example of it that tells the same events already.

    ``from_notes``: no archive was read. ``refused``: it is not as it was.
    """

    file: Path | None
    there: There | None
    from_notes: bool
    refused: bool

    @property
    def written(self) -> Path | None:
        """Return to which file it was written."""
        return None if self.refused or self.there else self.file


def show(material: Material, made: Recording, printed: Printed, *, as_json: bool) -> None:
    """Print the example, and how it went."""
    yaml = "\n".join(entry_as_yaml(made.document, "  "))
    if as_json:
        print(json.dumps(_document(material, made, printed, yaml), ensure_ascii=False, indent=1))
        return
    print(yaml)
    for line in _remarks(material, made, printed):
        say(f"relight policy: {line}", file=sys.stderr)


def _document(material: Material, made: Recording, printed: Printed, yaml: str) -> dict[str, Any]:
    return {
        "incident": material.incident.id,
        "policy": material.policy.name,
        "example": dict(made.document),
        "yaml": yaml,
        "findings": made.found,
        "happened": made.happened,
        "passes": made.passes,
        "as_it_was": made.is_as_it_was,
        "left_out": made.left_out,
        "thinned": made.thinned,
        "unanswered": list(made.unanswered),
        "from": "notes" if printed.from_notes else "archive",
        "unreadable_lines": material.wrong,
        "written": str(printed.written) if printed.written else None,
        "there_already": asdict(printed.there) if printed.there else None,
    }


def _remarks(material: Material, made: Recording, printed: Printed) -> Iterator[str]:
    name, expected = material.policy.name, made.document["findings"]
    yield f"{_findings(made.found)} of {name} came out; {_findings(made.happened)} in the incident."
    if not made.passes:
        yield f"{_findings(expected)} should come out, so it fails until the policy is mended."
    if printed.from_notes:
        yield "it is made of the incident's own notes: with --events of the archive it has every event as it came."
    if made.left_out:
        yield f"{made.left_out} events were left out that {name} does not ask about (--all keeps them)."
    if made.thinned:
        yield f"{made.thinned} events were folded into others, or left out: an example has at most 50."
    if material.wrong:
        yield f"{material.wrong} lines of the archive could not be read: `relight archive stats`."
    if not made.is_as_it_was:
        yield from (f"  {line}" for line in _why(material, made))
    if printed.refused:
        yield "that is not what happened: nothing was written. --findings N says what should come out."
    elif printed.there:
        yield from _already(printed.there, printed.file, expected)
    elif printed.written:
        yield f"written to {printed.written}."


def _already(there: There, file: Path | None, expected: int) -> Iterator[str]:
    place = f"{file}:{there.line}"
    yield f"already there: the example {there.says!r} tells the same events ({place}). Nothing was written."
    if there.findings != expected:
        yield f"it says findings: {there.findings}. To change its end, write findings: {expected} in line {there.line}."


def _why(material: Material, made: Recording) -> list[str]:
    return why(material.policy, Outcome(0, made.example, made.found, made.unanswered))


def _findings(number: int) -> str:
    return "1 finding" if number == 1 else f"{number} findings"

"""Write the JSON Schemas of the models, or tell which have drifted: ``python -m tests.tools.schemas [--write]``."""

import sys
from pathlib import Path

from policies.contract.schemas import render_schemas
from policies.schemas import render_policy_schema

POLICIES = Path(__file__).resolve().parents[2] / "policies"
RENDERED = {POLICIES / "contract" / "schemas": render_schemas, POLICIES / "schemas": render_policy_schema}


def drifted() -> list[str]:
    """Return what is wrong with each file that differs from what the models say; empty when all agree."""
    found: list[str] = []
    for folder, render in RENDERED.items():
        wanted = render()
        present = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
        found += [f"{name} differs from its model" for name in sorted(wanted) if present.get(name) != wanted[name]]
        found += [f"{name} belongs to no model" for name in sorted(set(present) - set(wanted))]
    return found


def write() -> None:
    """Write every schema to its folder and remove those without a model."""
    for folder, render in RENDERED.items():
        folder.mkdir(parents=True, exist_ok=True)
        wanted = render()
        for path in folder.glob("*.json"):
            if path.name not in wanted:
                path.unlink()
        for name, text in wanted.items():
            (folder / name).write_text(text, encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Run the tool; 1 when a schema has drifted."""
    if "--write" in arguments:
        write()
    problems = drifted()
    for problem in problems:
        sys.stderr.write(f"{problem}; run `make schemas` and commit the change if you meant it\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

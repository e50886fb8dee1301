"""Write the JSON Schemas of the contract, or tell which have drifted: ``python -m tests.tools.schemas [--write]``."""

import sys
from pathlib import Path

from policies.contract.schemas import render_schemas

FOLDER = Path(__file__).resolve().parents[2] / "policies" / "contract" / "schemas"


def drifted(folder: Path = FOLDER) -> list[str]:
    """Return what is wrong with each file of *folder* that differs from what the models say; empty when all agree."""
    wanted = render_schemas()
    present = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
    stale = [f"{name} differs from its model" for name in sorted(wanted) if present.get(name) != wanted[name]]
    return stale + [f"{name} belongs to no model" for name in sorted(set(present) - set(wanted))]


def write(folder: Path = FOLDER) -> None:
    """Write every schema to *folder* and remove those without a model."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = render_schemas()
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

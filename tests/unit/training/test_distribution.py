"""What a training image gets: it must install anywhere and bring nothing along."""

import ast
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TRAINING = ROOT / "training"
MODULES = sorted(TRAINING.rglob("*.py"))
OURS = "relight_training"


def imported(tree: ast.AST) -> set[str]:
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_a_module_imports_nothing_but_pythons_own_library(module: Path) -> None:
    tree = ast.parse(module.read_text(encoding="utf-8"))
    assert imported(tree) - sys.stdlib_module_names <= {OURS}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_a_module_is_in_the_words_of_python_3_9(module: Path) -> None:
    tree = ast.parse(module.read_text(encoding="utf-8"), feature_version=(3, 9))
    words = {word.arg for node in ast.walk(tree) if isinstance(node, ast.Call) for word in node.keywords}
    assert not words & {"slots", "kw_only", "strict"}  # dataclass of 3.10, zip of 3.10
    assert not {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)} & {"UTC", "bit_count"}
    # Annotations with `|` are fine where they are not evaluated.
    assert "from __future__ import annotations" in module.read_text() or "|" not in module.read_text()


def test_importing_it_loads_no_framework_and_opens_nothing(folder: Path) -> None:
    script = "import sys, relight_training\nprint(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=TRAINING, capture_output=True, text=True, check=True, env={"PATH": ""}
    )
    loaded = {name.partition(".")[0] for name in run.stdout.split()}
    assert not loaded & {"torch", "lightning", "transformers", "boto3", "pydantic", "multiprocessing", "asyncio"}
    assert not folder.exists()


def test_the_wheel_holds_the_package_and_asks_for_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=TRAINING, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
    package = {path.relative_to(TRAINING).as_posix() for path in (TRAINING / OURS).glob("*.py")}
    assert {name for name in names if name.endswith(".py")} == package
    assert f"{OURS}/py.typed" in names
    assert "Requires-Dist" not in metadata
    assert "Requires-Python: >=3.9" in metadata


def test_the_version_is_one() -> None:
    project = tomllib.loads((TRAINING / "pyproject.toml").read_text())["project"]
    told: dict[str, str] = {}
    exec((TRAINING / OURS / "version.py").read_text(), told)
    assert told["VERSION"] == project["version"]
